/// A number by which somebody who keeps it finds out whether a record has changed.
///
/// Two records of one archive that differ have different ones, but for one pair in
/// 2^64. Its key is made anew in each process, so nobody can choose values for which
/// that is otherwise.
package struct RecordFingerprint: Hashable, Sendable {
  private let value: UInt64

  /// That of nothing.
  package static let none = RecordFingerprint(value: 0)
  /// That of a record which nobody has looked at; it is equal to that of no other.
  package static let unknown = RecordFingerprint(value: 1)

  private init(value: UInt64) {
    self.value = value
  }

  /// - Complexity: O(*n*) in the number of bytes.
  init(_ bytes: Span<UInt8>) {
    var value = UInt64(truncatingIfNeeded: Self.hash(bytes, 0))
    #if !_pointerBitWidth(_64)
    value = value << 32 | UInt64(UInt32(truncatingIfNeeded: Self.hash(bytes, 1)))
    #endif
    self.value = max(value, 2)
  }

  /// SipHash with a key of the process; where a test fixes that, ours is still random.
  private static func hash(_ bytes: Span<UInt8>, _ part: UInt64) -> Int {
    var hasher = Hasher()
    hasher.combine(key &+ part)
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  private static let key = UInt64.random(in: .min ... .max)
}
