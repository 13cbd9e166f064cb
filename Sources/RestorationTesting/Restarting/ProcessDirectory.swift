package import ArchiveCodec
package import RestorationKit
internal import Synchronization

/// A directory as one process sees it: at the end of the process its locks go, and its
/// unfinished writes no longer reach the directory.
package final class ProcessDirectory: StateDirectory {
  private let base: any StateDirectory
  private let life = ProcessLife()

  package init(_ base: any StateDirectory) {
    self.base = base
  }

  /// Ends the process.
  package func end() { life.end() }

  package func storage(named name: String) -> any ArchiveStorage {
    ProcessStorage(storage: base.storage(named: name), life: life)
  }

  package func names() throws(ArchiveError) -> [String] { try base.names() }
}

/// Whether the process still runs, and the locks that go with it.
private final class ProcessLife: Sendable {
  private struct State {
    var hasEnded = false
    var locks: [WeakLock] = []
  }

  private struct WeakLock {
    weak var lock: ProcessLock?
  }

  private let state = Mutex(State())

  func check() throws(ArchiveError) {
    guard state.withLock({ !$0.hasEnded }) else {
      throw ArchiveError(.inputOutput, subject: "the process has ended")
    }
  }

  /// The lock until the process ends or its owner lets it go.
  func add(_ lock: any ArchiveLock) throws(ArchiveError) -> ProcessLock {
    let own = ProcessLock(lock)
    let isAdded = state.withLock { state in
      guard !state.hasEnded else { return false }
      state.locks.removeAll { $0.lock == nil }
      state.locks.append(WeakLock(lock: own))
      return true
    }
    guard isAdded else { throw ArchiveError(.inputOutput, subject: "the process has ended") }
    return own
  }

  func end() {
    let locks = state.withLock { state in
      state.hasEnded = true
      defer { state.locks = [] }
      return state.locks.compactMap(\.lock)
    }
    for lock in locks { lock.end() }
  }
}

private final class ProcessLock: ArchiveLock {
  private let lock: Mutex<(any ArchiveLock)?>

  init(_ lock: any ArchiveLock) {
    self.lock = Mutex(lock)
  }

  func end() {
    let lock = lock.withLock { $0.take() }
    _ = consume lock
  }

  func isHeld() throws(ArchiveError) -> Bool {
    guard let lock = lock.withLock({ $0 }) else { return false }
    return try lock.isHeld()
  }
}

private struct ProcessStorage: WrappedStorage {
  let storage: any ArchiveStorage
  let life: ProcessLife

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try life.check()
    return try storage.openForAppending().map { ProcessFile(file: $0, life: life) }
  }

  func lock() throws(ArchiveError) -> any ArchiveLock {
    try life.check()
    return try life.add(try storage.lock())
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try life.check()
    try storage.replace { sink throws(ArchiveError) in
      try body(sink)
      try life.check()
    }
  }

  func remove() throws(ArchiveError) {
    try life.check()
    try storage.remove()
  }
}

private struct ProcessFile: WrappedFile {
  let file: any AppendableArchiveFile
  let life: ProcessLife

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try life.check()
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    try life.check()
    try file.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) {
    try life.check()
    try file.synchronize()
  }
}
