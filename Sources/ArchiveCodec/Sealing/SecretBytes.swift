internal import CSodium

/// Secret bytes in guarded memory, wiped when they go.
///
/// The memory has guard pages around it, is kept out of swap and core dumps
/// where the system allows it, and is read-only once that it is filled. It is
/// never copied into an array, Data or String.
@safe
struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Written only by the initializer, so threads may share it.
  private let base: UnsafeMutableRawPointer
  let count: Int

  /// Takes memory and lets the body fill it.
  init(
    count: Int, _ fill: (UnsafeMutableRawPointer) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try Sodium.start()
    guard let base = unsafe sodium_malloc(count) else {
      throw ArchiveError(.cryptographyUnavailable, subject: "secret memory")
    }
    do throws(ArchiveError) {
      try unsafe fill(base)
    } catch {
      unsafe sodium_free(base)
      throw error
    }
    unsafe sodium_mprotect_readonly(base)
    unsafe self.base = unsafe base
    self.count = count
  }

  init(_ random: RandomSource, count: Int) throws(ArchiveError) {
    try unsafe self.init(count: count) { unsafe random.fill($0, count) }
  }

  deinit {
    unsafe sodium_free(base)
  }

  func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeRawPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawPointer(base))
  }
}
