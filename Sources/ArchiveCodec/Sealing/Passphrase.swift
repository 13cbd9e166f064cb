internal import CSodium

/// A passphrase that opens archives, in guarded memory.
///
/// The bytes are wiped when the last reference goes. They are in no
/// description, and no API gives them out.
///
/// Two passphrases are the same if their bytes are. There is no Unicode
/// normalization: if users type a passphrase on different keyboards, the app
/// should normalize the text first.
public final class Passphrase: Sendable {
  /// How long a passphrase may be, in bytes: 1 MiB.
  public static let largestByteCount = 1 << 20

  let secret: SecretBytes

  private init(_ secret: borrowing SecretBytes) throws(ArchiveError) {
    self.secret = try SecretBytes(guarding: secret)
  }

  /// Takes the UTF-8 of a text.
  ///
  /// The text itself cannot be wiped. Its bytes, and those of the text that it was made
  /// from, stay in memory until they are overwritten. Where that matters, read the
  /// passphrase into memory that you own and use ``init(moving:)``.
  ///
  /// - Parameter text: The passphrase, not empty.
  /// - Throws: ``ArchiveError`` with `passphraseEmpty`, `limitExceeded` for a
  ///   passphrase that is longer than ``largestByteCount``, or
  ///   `cryptographyUnavailable`.
  public convenience init(_ text: String) throws(ArchiveError) {
    let utf8 = text.utf8.span
    try self.init(
      unsafe utf8.withUnsafeBytes { (bytes) throws(ArchiveError) in try unsafe Self.copy(bytes) })
  }

  /// Takes a passphrase from memory that you own, and wipes that memory.
  ///
  /// - Parameter bytes: Any bytes, UTF-8 or not, zeros too; all zero
  ///   afterwards, also on error.
  /// - Throws: ``ArchiveError`` with `passphraseEmpty`, `limitExceeded` for a
  ///   passphrase that is longer than ``largestByteCount``, or
  ///   `cryptographyUnavailable`.
  public convenience init(moving bytes: UnsafeMutableRawBufferPointer) throws(ArchiveError) {
    defer { if let base = bytes.baseAddress { unsafe sodium_memzero(base, bytes.count) } }
    try self.init(unsafe Self.copy(UnsafeRawBufferPointer(bytes)))
  }

  private static func copy(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) -> SecretBytes {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      throw ArchiveError(.passphraseEmpty)
    }
    guard bytes.count <= largestByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a passphrase")
    }
    return try unsafe SecretBytes(copying: base, count: bytes.count)
  }
}
