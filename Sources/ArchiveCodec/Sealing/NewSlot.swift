/// A way into an archive that is to be made; see ``ArchiveSlot``.
public struct NewSlot: Sendable {
  let credential: ArchiveCredential
  let kind: ArchiveSlot.Kind
  let keyReference: UInt64

  private init(credential: ArchiveCredential, kind: ArchiveSlot.Kind, keyReference: UInt64) {
    self.credential = credential
    self.kind = kind
    self.keyReference = keyReference
  }

  init(_ credential: ArchiveCredential) {
    switch credential {
    case .key(let key): self = .key(key)
    case .passphrase(let passphrase): self = .passphrase(passphrase)
    }
  }

  /// A slot that a key opens.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - reference: A number by which to find the key again, 0 for none. It is
  ///     stored in the clear.
  /// - Returns: The slot.
  public static func key(_ key: ArchiveKey, reference: UInt64 = 0) -> NewSlot {
    NewSlot(credential: .key(key), kind: .key, keyReference: reference)
  }

  /// A slot that a passphrase opens.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase.
  ///   - cost: What a try of it costs.
  ///   - reference: A number by which to find the passphrase again, 0 for none.
  ///     It is stored in the clear.
  /// - Returns: The slot.
  public static func passphrase(
    _ passphrase: Passphrase, cost: PassphraseCost = .moderate, reference: UInt64 = 0
  ) -> NewSlot {
    NewSlot(
      credential: .passphrase(passphrase), kind: .passphrase(cost), keyReference: reference)
  }
}
