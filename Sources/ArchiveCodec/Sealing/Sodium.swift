internal import CSodium

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

  package func bytes(count: Int) -> [UInt8] {
    var bytes = [UInt8](zeros: count)
    unsafe fill(&bytes, count)
    return bytes
  }
}

/// Compares in a time that does not depend on where the bytes differ.
func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  return unsafe sodium_memcmp(left, right, left.count) == 0
}
