/// One key or passphrase of an archive, as it can be seen without a key.
///
/// Nothing of a slot is authenticated before the archive is open. Two slots are equal if
/// all of their bytes are, so a slot that was made anew for the same key is another one.
public struct ArchiveSlot: Hashable, Sendable {
  /// The kind of credential that opens a slot.
  ///
  /// More kinds may come; handle unknown ones.
  public enum Kind: Hashable, Sendable {
    /// An ``ArchiveKey``.
    case key

    /// A ``Passphrase``, at this cost.
    case passphrase(PassphraseCost)

    /// A kind that this version does not know.
    case unknown
  }

  /// The kind of credential that opens the slot.
  public let kind: Kind

  /// The number that the caller gave the slot to find its key by, 0 if none.
  ///
  /// The number is a hint. Only the slot's commitment decides which key fits.
  public var keyReference: UInt64 {
    kind == .unknown ? 0 : encoded.span.littleEndian(Self.keyReferenceRange)
  }

  /// All bytes of the slot, also the unknown bytes of a slot of an unknown kind.
  let encoded: [UInt8]
}

/// A slot that is to be made, for a new key or passphrase; see ``ArchiveSlot``.
public struct NewSlot: Sendable {
  let credential: ArchiveCredential
  let kind: ArchiveSlot.Kind
  let keyReference: UInt64

  /// A slot that a key opens.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - reference: A number by which to find the key again, 0 for none. The number is
  ///     stored in the clear.
  /// - Returns: The slot.
  public static func key(_ key: ArchiveKey, reference: UInt64 = 0) -> NewSlot {
    NewSlot(credential: .key(key), kind: .key, keyReference: reference)
  }

  /// A slot that a passphrase opens.
  ///
  /// - Parameters:
  ///   - passphrase: The passphrase.
  ///   - cost: The cost of a try of the passphrase.
  ///   - reference: A number by which to find the passphrase again, 0 for none. The
  ///     number is stored in the clear.
  /// - Returns: The slot.
  public static func passphrase(
    _ passphrase: Passphrase, cost: PassphraseCost = .moderate, reference: UInt64 = 0
  ) -> NewSlot {
    NewSlot(
      credential: .passphrase(passphrase), kind: .passphrase(cost), keyReference: reference)
  }
}

extension NewSlot {
  init(_ credential: ArchiveCredential) {
    switch credential {
    case .key(let key): self = .key(key)
    case .passphrase(let passphrase): self = .passphrase(passphrase)
    }
  }
}

/// A key or a passphrase that opens an archive.
public enum ArchiveCredential: Sendable {
  /// A random key, which is tried on every slot for keys.
  case key(ArchiveKey)

  /// A passphrase, which is tried on at most two slots for passphrases.
  case passphrase(Passphrase)
}
