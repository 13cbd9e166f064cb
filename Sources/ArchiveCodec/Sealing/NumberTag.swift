internal import CSodium

/// Proves that numbers come from an owner of a key: SipHash-2-4, cut to four bytes.
///
/// Without the key the tag of a number is guessed once in 2^32 times, also if tags of
/// other numbers are known. The tags are for a few numbers that are checked soon, and
/// need only as much room as the numbers.
package struct NumberTag: Hashable, Sendable {
  package static let keyByteCount = Int(crypto_shorthash_KEYBYTES)

  package let key: [UInt8]

  /// Takes the key of tags that were made before; nil if its size is wrong.
  package init?(key: [UInt8]) {
    guard key.count == Self.keyByteCount else { return nil }
    self.key = key
  }

  /// Makes tags with a new random key.
  package init(_ random: RandomSource = .system) {
    key = random.bytes(count: Self.keyByteCount)
  }

  /// The tag of a text.
  package func tag(of text: String) -> UInt32 {
    let input = text.utf8.span
    var output: UInt64 = 0
    unsafe withUnsafeMutableBytes(of: &output) { output in
      unsafe input.withUnsafeBufferPointer { input in
        guard let place = unsafe output.bindMemory(to: UInt8.self).baseAddress else { return }
        _ = unsafe crypto_shorthash(place, input.baseAddress, UInt64(input.count), key)
      }
    }
    return UInt32(truncatingIfNeeded: UInt64(littleEndian: output))
  }
}
