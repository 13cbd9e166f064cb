internal import RestorationLibc

package enum SystemCall {
  package static var processIdentifier: Int32 { getpid() }

  /// Repeats a call until it is not interrupted; −1 is a failure.
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

  /// Moves a descriptor that has the number of a standard one: a process may have been started with
  /// those closed, and all that it prints would go into the file.
  package static func moveAboveStandard(_ descriptor: CInt) throws(ArchiveError) -> CInt {
    guard descriptor <= STDERR_FILENO else { return descriptor }
    defer { _ = close(descriptor) }
    return try check { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
  }

  /// Runs a body whose writes may exceed the limit on the size of files (RLIMIT_FSIZE):
  /// the writes give EFBIG, and the signal that would end the process is taken away.
  ///
  /// Afterwards the thread has its old mask. The process's handling of the signal is
  /// not touched, and a signal that was already waiting stays.
  static func withoutFileSizeSignal<Result>(
    _ body: () throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard hasFileSizeLimit else { return try body() }
    var signal = sigset_t()
    var waiting = sigset_t()
    var mask = sigset_t()
    unsafe sigemptyset(&signal)
    unsafe sigaddset(&signal, SIGXFSZ)
    unsafe sigpending(&waiting)
    let wasWaiting = unsafe sigismember(&waiting, SIGXFSZ) == 1
    unsafe pthread_sigmask(SIG_BLOCK, &signal, &mask)
    defer {
      if !wasWaiting { unsafe take(&signal) }
      unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
    return try body()
  }

  /// Most processes have no limit: asking is one call, and holding off the signal four
  /// (benchmark: append 1 changed record).
  private static var hasFileSizeLimit: Bool {
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
    let resource = CInt(RLIMIT_FSIZE)
    #endif
    var limit = rlimit()
    // The value that stands for no limit is larger than any offset in a file.
    return unsafe getrlimit(resource, &limit) != 0 || limit.rlim_cur < rlim_t(Int64.max)
  }

  @unsafe private static func take(_ signal: UnsafeMutablePointer<sigset_t>) {
    #if canImport(Darwin)
    // Checked first, because `sigwait` has no timeout: a signal that the process
    // ignores never becomes pending.
    var waiting = sigset_t()
    unsafe sigpending(&waiting)
    guard unsafe sigismember(&waiting, SIGXFSZ) == 1 else { return }
    var number: CInt = 0
    _ = unsafe sigwait(signal, &number)
    #else
    var none = timespec()
    _ = unsafe sigtimedwait(signal, nil, &none)
    #endif
  }
}

extension ArchiveError {
  /// Translates the operating system's error number for a stored file.
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
