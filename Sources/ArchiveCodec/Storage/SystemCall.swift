#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

package enum SystemCall {
  package static var processIdentifier: Int32 { getpid() }

  /// Calls until the call is not interrupted; −1 is a failure.
  @discardableResult
  package static func check<Result: SignedInteger>(
    _ call: () -> Result
  ) throws(ArchiveError) -> Result {
    while true {
      let result = call()
      if result != -1 { return result }
      let number = errno
      if number != EINTR { throw ArchiveError(systemError: number) }
    }
  }
}

extension ArchiveError {
  /// Says what the operating system's error number means for a stored file.
  ///
  /// The code is `permissionDenied`, `storageFull`, `notAFile` or
  /// `inputOutput`.
  ///
  /// - Parameter number: The error number, as in `errno`.
  public init(systemError number: Int32) {
    let code: Code =
      switch number {
      case EACCES, EPERM, EROFS: .permissionDenied
      case ENOSPC, EDQUOT, EFBIG: .storageFull
      case EISDIR, ENOTDIR, ELOOP, ENXIO: .notAFile
      default: .inputOutput
      }
    self.init(code, systemError: number)
  }
}
