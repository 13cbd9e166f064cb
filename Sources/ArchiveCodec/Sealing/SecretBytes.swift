internal import CSodium
internal import Synchronization

/// Secret bytes in guarded memory, wiped when they go.
///
/// The memory has guard pages around it, and is kept out of swap and core dumps where the
/// system allows that. It is never copied into an array, Data or String.
///
/// Keys and passphrases that an app holds have regions of their own, which are read-only, so
/// that a stray write cannot change them. What is derived from them has a part of a region,
/// and stays writable: only functions with fixed counts of bytes write there. A region takes
/// 20 µs, and to make it read-only, and writable again at its end, stops all threads. With
/// regions for all, the first archive of 10 records that a process opens and reads took a
/// fifth more, and a later one in memory half as much again.
@safe
struct SecretBytes: ~Copyable, @unchecked Sendable {
  private enum Place {
    case memory(SecretMemory)
    case cell(SecretCell)
  }

  // Written only by the initializer, so threads may share it.
  private let base: UnsafeMutableRawPointer
  private let place: Place
  let count: Int

  /// More stack than BLAKE2b, the deepest function with secrets on the stack, uses.
  private static let wipedStackByteCount = 2048

  /// Takes memory and lets the body fill it.
  init(count: Int, _ fill: (UnsafeMutableRawPointer) throws(ArchiveError) -> Void)
    throws(ArchiveError)
  {
    let memory = try SecretMemory.take(count)
    do throws(ArchiveError) {
      try unsafe fill(memory.base)
    } catch {
      memory.giveBack()
      throw error
    }
    // The functions that the body called may have left a copy on the stack.
    sodium_stackzero(Self.wipedStackByteCount)
    unsafe base = memory.base
    place = .memory(memory)
    self.count = count
  }

  /// Copies a secret into a region of its own, which is read-only.
  init(guarding secret: borrowing SecretBytes) throws(ArchiveError) {
    let memory = try SecretMemory.region(secret.count)
    unsafe memory.base.copyMemory(from: secret.base, byteCount: secret.count)
    unsafe sodium_mprotect_readonly(memory.base)
    unsafe base = memory.base
    place = .memory(memory)
    count = secret.count
  }

  /// Copies a key into a page that many keys share.
  init(packing key: borrowing SecretBytes) throws(ArchiveError) {
    precondition(key.count == ArchiveKey.byteCount)
    let cell = try unsafe SecretCell(copying: UnsafeRawPointer(key.base))
    unsafe base = cell.base
    place = .cell(cell)
    count = key.count
  }

  init(_ random: RandomSource, count: Int) throws(ArchiveError) {
    try unsafe self.init(count: count) { unsafe random.fill($0, count) }
  }

  init(copying bytes: UnsafeRawPointer, count: Int) throws(ArchiveError) {
    try unsafe self.init(count: count) { unsafe $0.copyMemory(from: bytes, byteCount: count) }
  }

  func copy() throws(ArchiveError) -> SecretBytes {
    try unsafe SecretBytes(copying: base, count: count)
  }

  deinit {
    if case .memory(let memory) = place { memory.giveBack() }
  }

  func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeRawPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawPointer(base))
  }
}

/// A guarded region, or a part of one, which one owner has at a time.
@safe
private struct SecretMemory: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  private let isPart: Bool

  /// Wiped parts, which never go: as many as there were in use at once.
  private static let parts = Mutex<[SecretMemory]>([])
  /// The bytes of the largest set of derived keys.
  private static let partByteCount = 128
  /// The parts and the canary of libsodium fill one page of memory.
  private static let partCount = 31

  static func take(_ count: Int) throws(ArchiveError) -> SecretMemory {
    guard count <= partByteCount else { return try region(count) }
    return try parts.withLock { parts throws(ArchiveError) in
      if let part = parts.popLast() { return part }
      let region = try unsafe region(partCount * partByteCount).base
      parts = (1..<partCount).map { part in
        unsafe SecretMemory(base: region + part * partByteCount, isPart: true)
      }
      return unsafe SecretMemory(base: region, isPart: true)
    }
  }

  static func region(_ count: Int) throws(ArchiveError) -> SecretMemory {
    try Sodium.start()
    guard let base = unsafe sodium_malloc(count) else {
      throw ArchiveError(.cryptographyUnavailable, subject: "secret memory")
    }
    return unsafe SecretMemory(base: base, isPart: false)
  }

  func giveBack() {
    // libsodium wipes the memory that it frees.
    guard isPart else { return unsafe sodium_free(base) }
    unsafe sodium_memzero(base, Self.partByteCount)
    Self.parts.withLock { $0.append(self) }
  }
}
