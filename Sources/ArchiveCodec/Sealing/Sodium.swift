internal import CSodium
internal import Synchronization

/// Starts libsodium once, before any other function of it is called.
enum Sodium {
  private static let status = sodium_init()

  static func start() throws(ArchiveError) {
    // 1 means that other code in the process started it before.
    guard status >= 0 else { throw ArchiveError(.cryptographyUnavailable) }
  }
}

/// The source of keys and salts: the system, or a fixed stream in a test.
@safe
package struct RandomSource: Sendable {
  let fill: @Sendable (UnsafeMutableRawPointer, _ count: Int) -> Void

  package init(fill: @escaping @Sendable (UnsafeMutableRawPointer, _ count: Int) -> Void) {
    unsafe self.fill = fill
  }

  /// The generator of the operating system.
  package static let system = unsafe RandomSource { bytes, count in
    unsafe randombytes_buf(bytes, count)
  }

  /// A source that takes its first bytes from this one at once: each call of the system costs as much
  /// as some hundred bytes.
  package func drawing(_ count: Int) -> RandomSource {
    let rest = DrawnBytes(bytes(count: count))
    return unsafe RandomSource { [fill] bytes, count in
      let drawn = rest.take(count)
      unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count).copyBytes(from: drawn)
      guard drawn.count < count else { return }
      unsafe fill(bytes + drawn.count, count - drawn.count)
    }
  }

  package func bytes(count: Int) -> [UInt8] {
    var bytes = [UInt8](zeros: count)
    unsafe fill(&bytes, count)
    return bytes
  }
}

/// Random bytes that were drawn, each of which is taken once.
private final class DrawnBytes: Sendable {
  private let rest: Mutex<ArraySlice<UInt8>>

  init(_ bytes: [UInt8]) {
    rest = Mutex(bytes[...])
  }

  /// Takes as many bytes, or all that are left if they are fewer.
  func take(_ count: Int) -> ArraySlice<UInt8> {
    rest.withLock { rest in
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }
}

/// Compares in a time that does not depend on where the bytes differ.
func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  return unsafe sodium_memcmp(left, right, left.count) == 0
}
