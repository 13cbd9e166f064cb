/// SipHash-1-3: whoever does not know the key cannot choose bytes with equal hashes.
///
/// Hasher is the same function, and takes twice as long: it is made for values that
/// come in parts (benchmark: save a tree of nodes).
package struct SipHash: Sendable {
  private let key: (UInt64, UInt64)

  package init(key: (UInt64, UInt64)) {
    self.key = key
  }

  /// - Complexity: O(*n*) in the number of bytes.
  package func hash(_ bytes: Span<UInt8>) -> UInt64 {
    var state = State(key)
    let tail = bytes.count & ~7
    var place = 0
    while place < tail {
      state.add(bytes.littleEndian(place..<place + 8))
      place += 8
    }
    let count = UInt64(truncatingIfNeeded: bytes.count)
    state.add(count << 56 | bytes.littleEndian(tail..<bytes.count))
    return state.finish()
  }

  private struct State {
    private var a: UInt64
    private var b: UInt64
    private var c: UInt64
    private var d: UInt64

    /// The constants are those of the function.
    @inline(__always)
    init(_ key: (UInt64, UInt64)) {
      a = key.0 ^ 0x736f_6d65_7073_6575
      b = key.1 ^ 0x646f_7261_6e64_6f6d
      c = key.0 ^ 0x6c79_6765_6e65_7261
      d = key.1 ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
      d ^= word
      mix()
      a ^= word
    }

    @inline(__always)
    mutating func finish() -> UInt64 {
      c ^= 0xff
      for _ in 0..<3 { mix() }
      return a ^ b ^ c ^ d
    }

    @inline(__always)
    private mutating func mix() {
      a &+= b
      b = b.rotated(by: 13) ^ a
      a = a.rotated(by: 32)
      c &+= d
      d = d.rotated(by: 16) ^ c
      a &+= d
      d = d.rotated(by: 21) ^ a
      c &+= b
      b = b.rotated(by: 17) ^ c
      c = c.rotated(by: 32)
    }
  }
}

extension UInt64 {
  @inline(__always)
  fileprivate func rotated(by bits: UInt64) -> UInt64 {
    self &<< bits | self &>> (64 - bits)
  }
}
