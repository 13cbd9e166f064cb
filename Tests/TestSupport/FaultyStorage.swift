package import ArchiveCodec
import Synchronization

/// A disk in memory that can fail, and that loses what was not synced.
///
/// Calls that change something are counted. `fails(call)` says whether the
/// call with this number fails.
package final class FaultyStorage: ArchiveStorage {
  fileprivate struct State {
    /// All that were ever stored: whoever has opened one goes on with it.
    var files: [[UInt8]] = []
    /// Which of them is stored now.
    var stored: Int?
    /// What a power cut leaves.
    var durable: [UInt8]?
    var callCount = 0
    var syncCount = 0
    var isLocked = false

    init(_ bytes: [UInt8]?) {
      durable = bytes
      if let bytes { store(bytes) }
    }

    var bytes: [UInt8]? { stored.map { files[$0] } }

    mutating func store(_ bytes: [UInt8]) {
      stored = files.count
      files.append(bytes)
    }
  }

  package enum Call: Hashable, Sendable {
    case write, truncate, sync, replace
    /// The new content is there when it fails, but not for good.
    case publish
    /// The size is asked for, which changes nothing and is not counted.
    case askForSize
  }

  fileprivate let state: Mutex<State>
  private let failure: @Sendable (Call, Int) -> ArchiveError?
  package let location = "faulty"

  package init(
    _ bytes: [UInt8]? = nil,
    failing failure: @escaping @Sendable (Call, Int) -> ArchiveError? = { _, _ in nil }
  ) {
    state = Mutex(State(bytes))
    self.failure = failure
  }

  package var bytes: [UInt8]? { state.withLock { $0.bytes } }
  package var durableBytes: [UInt8]? { state.withLock { $0.durable } }
  package var callCount: Int { state.withLock { $0.callCount } }
  package var syncCount: Int { state.withLock { $0.syncCount } }

  fileprivate func begin(_ call: Call) throws(ArchiveError) {
    let number = state.withLock { state in
      state.callCount += 1
      return state.callCount
    }
    if let error = failure(call, number) { throw error }
  }

  fileprivate func ask(_ call: Call) throws(ArchiveError) {
    if let error = failure(call, callCount) { throw error }
  }

  package func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try openForAppending()
  }

  package func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    state.withLock { state in
      state.stored.map {
        FaultyFile(storage: self, number: $0, byteCount: state.files[$0].count)
      }
    }
  }

  package func isLocked() throws(ArchiveError) -> Bool { state.withLock { $0.isLocked } }

  package func lock() throws(ArchiveError) -> any ArchiveLock {
    let isFree = state.withLock { state in
      defer { state.isLocked = true }
      return !state.isLocked
    }
    guard isFree else { throw ArchiveError(.locked) }
    return FaultyLock(self)
  }

  package func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let sink = MemorySink()
    try body(sink)
    try begin(.replace)
    state.withLock { $0.store(sink.bytes) }
    do {
      try begin(.publish)
    } catch {
      throw ArchiveError(.notDurable, systemError: error.systemError)
    }
    state.withLock { $0.durable = $0.bytes }
  }

  package func remove() throws(ArchiveError) {
    state.withLock { state in
      state.stored = nil
      state.durable = nil
    }
  }
}

private final class FaultyLock: ArchiveLock {
  private let storage: FaultyStorage

  init(_ storage: FaultyStorage) {
    self.storage = storage
  }

  deinit {
    storage.state.withLock { $0.isLocked = false }
  }

  func isHeld() throws(ArchiveError) -> Bool { true }
}

private struct FaultyFile: AppendableArchiveFile {
  let storage: FaultyStorage
  let number: Int
  let byteCount: Int

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    let bytes = storage.state.withLock { $0.files[number] }
    guard offset >= 0, count >= 0, offset + count <= bytes.count else {
      throw ArchiveError(.truncated, offset: bytes.count)
    }
    return Array(bytes[offset..<offset + count])
  }

  func storedByteCount() throws(ArchiveError) -> Int? {
    try storage.ask(.askForSize)
    return storage.state.withLock { $0.stored == number ? $0.files[number].count : nil }
  }

  /// A write that fails leaves half of the bytes behind.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    var failure: ArchiveError?
    do throws(ArchiveError) { try storage.begin(.write) } catch { failure = error }
    let written = failure == nil ? bytes[...] : bytes[..<(bytes.count / 2)]
    storage.state.withLock { $0.files[number] = Array($0.files[number].prefix(offset)) + written }
    if let failure { throw failure }
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    try storage.begin(.truncate)
    storage.state.withLock { $0.files[number] = Array($0.files[number].prefix(byteCount)) }
  }

  func synchronize() throws(ArchiveError) {
    try storage.begin(.sync)
    storage.state.withLock { state in
      if state.stored == number { state.durable = state.files[number] }
      state.syncCount += 1
    }
  }
}
