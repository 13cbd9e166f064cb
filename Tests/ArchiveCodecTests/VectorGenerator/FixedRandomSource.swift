import ArchiveCodec
import Synchronization

extension RandomSource {
  /// Gives these bytes over and over.
  static func repeating(_ bytes: [UInt8]) -> RandomSource {
    RandomSource { target, count in
      for place in 0..<count {
        target.storeBytes(of: bytes[place % bytes.count], toByteOffset: place, as: UInt8.self)
      }
    }
  }

  /// The same bytes in every process.
  static func fixed(seed: UInt64) -> RandomSource {
    let stream = FixedStream(seed: seed)
    return RandomSource { target, count in
      for place in 0..<count {
        target.storeBytes(of: stream.next(), toByteOffset: place, as: UInt8.self)
      }
    }
  }
}

/// The bytes of SplitMix64, one of each number.
private final class FixedStream: Sendable {
  private let state: Mutex<UInt64>

  init(seed: UInt64) {
    state = Mutex(seed &* 0xD134_2543_DE82_EF95)
  }

  func next() -> UInt8 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return UInt8(truncatingIfNeeded: mixed >> 31)
    }
  }
}
