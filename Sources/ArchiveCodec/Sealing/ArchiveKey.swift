internal import CSodium

/// A 256-bit key that opens archives, in guarded memory.
///
/// The bytes are wiped when the last reference goes. They are in no
/// description, and no API gives them out except ``KeyFile``, which writes
/// them to a file.
public final class ArchiveKey: Sendable {
  /// The size of a key in bytes.
  public static let byteCount = 32

  let secret: SecretBytes

  init(_ secret: borrowing SecretBytes) throws(ArchiveError) {
    self.secret = try SecretBytes(guarding: secret)
  }

  /// Puts the key into a page that many share, which takes a third of the time of a region of its own.
  init(packing secret: borrowing SecretBytes) throws(ArchiveError) {
    self.secret = try SecretBytes(packing: secret)
  }

  /// Whether another key has the same bytes.
  ///
  /// The time of the comparison does not tell where they differ.
  package func isSame(as other: ArchiveKey) -> Bool {
    if self === other { return true }
    return unsafe secret.withBytes { own in
      unsafe other.secret.withBytes { unsafe sodium_memcmp(own, $0, Self.byteCount) == 0 }
    }
  }

  /// Lends the bytes to code that puts them into another place for secrets: a copy
  /// belongs into memory that is locked and wiped.
  package func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe secret.withBytes { (bytes) throws(Failure) in
      try unsafe body(UnsafeRawBufferPointer(start: bytes, count: Self.byteCount))
    }
  }

  /// The key in a page that it shares with others, for a process that has thousands of keys.
  package func packed() throws(ArchiveError) -> ArchiveKey {
    try ArchiveKey(packing: secret)
  }

  /// Makes a new random key.
  ///
  /// - Throws: ``ArchiveError`` with `cryptographyUnavailable`.
  public convenience init() throws(ArchiveError) {
    try self.init(SecretBytes(.system, count: Self.byteCount))
  }

  /// Takes a key from memory that you own, and wipes that memory.
  ///
  /// - Parameter bytes: Exactly 32 bytes; all zero afterwards, also on error.
  /// - Throws: ``ArchiveError`` with `keyDamaged` for another number of bytes,
  ///   or `cryptographyUnavailable`.
  public convenience init(moving bytes: UnsafeMutableRawBufferPointer) throws(ArchiveError) {
    guard let base = bytes.baseAddress else { throw ArchiveError(.keyDamaged) }
    defer { unsafe sodium_memzero(base, bytes.count) }
    guard bytes.count == Self.byteCount else { throw ArchiveError(.keyDamaged) }
    try self.init(unsafe SecretBytes(copying: base, count: Self.byteCount))
  }
}
