import ArchiveCodec
import Synchronization
import XCTest

/// Random bytes that are asked for at once.
final class RandomSourceTests: XCTestCase {
  /// A source that counts up, and the sizes that it was asked for.
  private final class Counter: Sendable {
    let state = Mutex((next: UInt8(0), counts: [Int]()))

    var source: RandomSource {
      unsafe RandomSource { [self] bytes, count in
        state.withLock { state in
          state.counts.append(count)
          for offset in 0..<count {
            unsafe bytes.storeBytes(of: state.next, toByteOffset: offset, as: UInt8.self)
            state.next += 1
          }
        }
      }
    }
  }

  func testBytesThatAreDrawnAtOnceAreGivenOnceEach() {
    for drawn in 0...6 {
      let counter = Counter()
      let source = counter.source.drawing(drawn)
      let all = [2, 0, 3, 4].flatMap { source.bytes(count: $0) }
      XCTAssertEqual(all, Array(0..<9), "of \(drawn)")
      XCTAssertEqual(counter.state.withLock { $0.counts.first }, drawn)
      XCTAssertEqual(counter.state.withLock { $0.counts.reduce(0, +) }, 9)
    }
  }
}
