/// One way into an archive, as it can be seen without a key.
///
/// Nothing here is authenticated before the archive is open. Two slots are
/// equal if all of their bytes are, so one that was made anew is another one.
public struct ArchiveSlot: Hashable, Sendable {
  /// What opens a slot.
  ///
  /// More kinds may come; handle unknown ones.
  public enum Kind: Hashable, Sendable {
    /// An ``ArchiveKey``.
    case key

    /// A ``Passphrase``, at this cost.
    case passphrase(PassphraseCost)

    /// Something that this version does not know.
    case unknown
  }

  /// What opens it.
  public let kind: Kind

  /// The number that the caller gave it to find the key by, 0 if none.
  ///
  /// It is a hint. Which key fits is decided by the slot's commitment alone.
  public let keyReference: UInt64

  let encoded: [UInt8]

  init(_ slot: KeySlot) {
    kind = slot.kind
    keyReference = slot.kind == .unknown ? 0 : slot.keyReference
    encoded = slot.encoded
  }
}
