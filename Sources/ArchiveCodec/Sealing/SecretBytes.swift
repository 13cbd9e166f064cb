internal import CSodium
internal import Synchronization

/// Secret bytes in guarded memory, wiped when they go.
///
/// The memory has guard pages around it, and is kept out of swap and core dumps where the
/// system allows that. It is never copied into an array, Data or String.
///
/// Keys and passphrases that an app holds are read-only, so that a stray write cannot
/// change them. The keys of an open file stay writable: making memory read-only, and
/// writable again at its end, stops all threads. Doing so for the two sets of keys of a file
/// took a third of opening and reading 10 records in memory.
@safe
struct SecretBytes: ~Copyable, @unchecked Sendable {
  private enum Place {
    case region(SecretMemory, isReadOnly: Bool)
    case cell(SecretCell)
  }

  // The initializer alone writes the bytes, and only the owner of a value that nobody shares
  // changes its place, so threads may share both.
  private let base: UnsafeMutableRawPointer
  private var place: Place
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
      memory.giveBack(isReadOnly: false)
      throw error
    }
    // The functions that the body called may have left a copy on the stack.
    sodium_stackzero(Self.wipedStackByteCount)
    unsafe base = memory.base
    place = .region(memory, isReadOnly: false)
    self.count = count
  }

  /// Makes the memory read-only until it goes.
  mutating func makeReadOnly() {
    guard case .region(let memory, isReadOnly: false) = place else { return }
    unsafe sodium_mprotect_readonly(memory.base)
    place = .region(memory, isReadOnly: true)
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

  func copy() throws(ArchiveError) -> SecretBytes {
    try unsafe SecretBytes(count: count) { unsafe $0.copyMemory(from: base, byteCount: count) }
  }

  deinit {
    if case .region(let memory, let isReadOnly) = place { memory.giveBack(isReadOnly: isReadOnly) }
  }

  func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (UnsafeRawPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawPointer(base))
  }
}

/// A guarded region, which one owner has at a time.
///
/// libsodium takes about 20 µs for a region, most of the time of opening an archive or
/// appending to it. So a few regions are kept: wiped and writable.
@safe
private struct SecretMemory: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  private let byteCount: Int

  private static let kept = Mutex<[SecretMemory]>([])
  private static let keptCount = 16
  /// More than any set of derived keys needs.
  private static let keptByteCount = 256

  static func take(_ count: Int) throws(ArchiveError) -> SecretMemory {
    try Sodium.start()
    if count <= keptByteCount, let memory = kept.withLock({ $0.popLast() }) { return memory }
    let byteCount = max(count, keptByteCount)
    guard let base = unsafe sodium_malloc(byteCount) else {
      throw ArchiveError(.cryptographyUnavailable, subject: "secret memory")
    }
    return unsafe SecretMemory(base: base, byteCount: byteCount)
  }

  /// Wipes the region, and keeps or frees it.
  func giveBack(isReadOnly: Bool) {
    if isReadOnly { unsafe sodium_mprotect_readwrite(base) }
    unsafe sodium_memzero(base, byteCount)
    let isKept =
      byteCount == Self.keptByteCount
      && Self.kept.withLock { kept in
        guard kept.count < Self.keptCount else { return false }
        kept.append(self)
        return true
      }
    if !isKept { unsafe sodium_free(base) }
  }
}
