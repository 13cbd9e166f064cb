/// What opens an archive: a key or a passphrase.
public enum ArchiveCredential: Sendable {
  /// A random key, which is tried on every slot for keys.
  case key(ArchiveKey)

  /// A passphrase, which is tried on at most two slots for passphrases.
  case passphrase(Passphrase)
}
