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
    value = max(Self.function.hash(bytes), 2)
  }

  private static let function = SipHash(
    key: (.random(in: .min ... .max), .random(in: .min ... .max)))
}
