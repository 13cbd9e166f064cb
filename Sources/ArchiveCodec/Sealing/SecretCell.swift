internal import CSodium
internal import Synchronization

/// Room for one key in a guarded page that many keys share.
///
/// A region of its own takes 8 KiB of memory and four mappings. Linux lets a process
/// have 65,530 mappings, so there is room for at most 16,377 such keys. A page has 127
/// keys. The page is read-only except for the moment in which a key comes or goes.
@safe
final class SecretCell: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  private let page: SecretPage
  private let number: Int

  /// Copies a key.
  init(copying key: UnsafeRawPointer) throws(ArchiveError) {
    try Sodium.start()
    (page, number) = try SecretPage.open.withLock { open throws(ArchiveError) in
      if open.isEmpty { open.append(try SecretPage()) }
      let page = open[open.count - 1]
      let number = unsafe page.take(copying: key)
      if page.isFull { open.removeLast() }
      return (page, number)
    }
    unsafe base = page.cell(number)
  }

  deinit {
    SecretPage.open.withLock { open in
      if page.isFull { open.append(page) }
      page.giveBack(number)
      // One empty page is kept for the next key.
      if page.isEmpty, open.count > 1 { open.removeAll { $0 === page } }
    }
  }
}

/// A page of cells; everything but the addresses is used under the lock of ``open``.
@safe
private final class SecretPage: @unchecked Sendable {
  /// The pages with room.
  static let open = Mutex<[SecretPage]>([])

  /// The cells and the canary of libsodium fill one page of memory.
  private static let cellCount = 127

  private let base: UnsafeMutableRawPointer
  private var free = Array(0..<SecretPage.cellCount)

  init() throws(ArchiveError) {
    guard let base = unsafe sodium_malloc(Self.cellCount * ArchiveKey.byteCount) else {
      throw ArchiveError(.cryptographyUnavailable, subject: "secret memory")
    }
    unsafe self.base = base
  }

  deinit {
    // libsodium wipes the memory that it frees.
    unsafe sodium_free(base)
  }

  var isFull: Bool { free.isEmpty }

  var isEmpty: Bool { free.count == Self.cellCount }

  func cell(_ number: Int) -> UnsafeMutableRawPointer {
    unsafe base + number * ArchiveKey.byteCount
  }

  func take(copying key: UnsafeRawPointer) -> Int {
    let number = free.removeLast()
    unsafe write(number) { unsafe $0.copyMemory(from: key, byteCount: ArchiveKey.byteCount) }
    return number
  }

  func giveBack(_ number: Int) {
    unsafe write(number) { unsafe sodium_memzero($0, ArchiveKey.byteCount) }
    free.append(number)
  }

  private func write(_ number: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
    unsafe sodium_mprotect_readwrite(base)
    unsafe body(cell(number))
    unsafe sodium_mprotect_readonly(base)
  }
}
