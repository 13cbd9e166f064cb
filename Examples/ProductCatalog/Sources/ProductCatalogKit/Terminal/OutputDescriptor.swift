#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// Writes straight to a file descriptor, so that nothing waits in a buffer when the process dies.
struct OutputDescriptor: Sendable {
  static let standardOutput = OutputDescriptor(descriptor: STDOUT_FILENO)
  static let standardError = OutputDescriptor(descriptor: STDERR_FILENO)

  let descriptor: Int32

  /// Opens a file to append to; nil if that is not possible.
  static func appending(to path: String) -> OutputDescriptor? {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    return descriptor >= 0 ? OutputDescriptor(descriptor: descriptor) : nil
  }

  /// Writes all of a text.
  ///
  /// What a broken descriptor does not take is lost.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes {
        unsafe systemWrite(descriptor, $0.baseAddress, $0.count)
      }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno != EINTR {
        return
      }
    }
  }
}

/// Out of the type, where the name `write` means the method.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
