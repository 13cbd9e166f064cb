package import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// A process that keeps states on a ``FaultyDisk``, until it ends.
///
/// Its storages make the calls that `FileStorage` makes, in the same order, and each
/// of them can be the one that fails or the last one.
package final class DiskProcess: StateDirectory {
  private struct State {
    var hasEnded = false
    var fault: FaultyDisk.Fault?
    /// How many calls are made before the fault.
    var callsLeft = 0
    var hasFailed = false
    /// The call in which the process has ended by its fault.
    var lastCall: FaultyDisk.Call?
  }

  let disk: FaultyDisk
  let number: Int
  private let state = Mutex(State())

  init(_ disk: FaultyDisk, number: Int) {
    self.disk = disk
    self.number = number
  }

  // MARK: Faults

  /// Lets a call go wrong: the next one, or one after some others.
  package func arm(_ fault: FaultyDisk.Fault, after callCount: Int) {
    state.withLock { state in
      (state.fault, state.callsLeft, state.hasFailed) = (fault, callCount, false)
    }
  }

  /// Lets all calls succeed again; whether one has gone wrong since it was armed.
  @discardableResult
  package func disarm() -> Bool {
    state.withLock { state in
      defer { (state.fault, state.hasFailed) = (nil, false) }
      return state.hasFailed
    }
  }

  /// The call in which the process has ended, if a fault has ended it.
  package var lastCall: FaultyDisk.Call? { state.withLock { $0.lastCall } }

  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Kills the process: its locks go, and nothing that it still calls does anything.
  package func end() {
    state.withLock { $0.hasEnded = true }
    disk.unlockAll(of: number)
  }

  func course(of call: FaultyDisk.Call) -> FaultyDisk.Course {
    let isSync = call == .synchronize || call == .synchronizeDirectory
    let (fault, hasEnded) = state.withLock { state -> (FaultyDisk.Fault?, Bool) in
      guard let fault = state.fault, !state.hasEnded else { return (nil, state.hasEnded) }
      if case .endAt = fault, !call.isChange { return (nil, false) }
      guard state.callsLeft == 0 else {
        state.callsLeft -= 1
        return (nil, false)
      }
      if fault == .lie, !isSync { return (nil, false) }
      (state.fault, state.hasFailed) = (nil, true)
      switch fault {
      case .end, .endAt: (state.hasEnded, state.lastCall) = (true, call)
      case .failure, .lie: break
      }
      return (fault, false)
    }
    switch fault {
    case .failure: return disk.failure(of: call)
    case .end: return .ends()
    case .endAt(let extent): return .ends(extent)
    case .lie: return .lies
    case nil: return hasEnded ? .ends() : disk.course(of: call)
    }
  }

  /// Makes a call that changes nothing.
  func ask(_ call: FaultyDisk.Call) throws(ArchiveError) {
    try course(of: call).finish()
  }

  /// Makes a call that may change something; one that has ended changes nothing.
  func make<Result>(
    _ call: FaultyDisk.Call, _ body: (FaultyDisk.Course) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    let hadEnded = hasEnded
    let course = course(of: call)
    if hadEnded { try course.finish() }
    return try body(course)
  }

  // MARK: States

  static let suffix = ".rka"

  package func storage(named name: String) -> any ArchiveStorage {
    // Nothing waits for the record of a launch.
    DiskStorage(
      process: self, name: name + Self.suffix, isDurable: !name.hasSuffix(".launch"))
  }

  package func names() throws(ArchiveError) -> [String] {
    try ask(.list)
    return disk.names.filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }
      .map { String($0.dropLast(Self.suffix.count)) }
  }

  /// What nobody has locked is left over, as with real ones.
  func sweepTemporaries(where isOwn: (String) -> Bool) throws(ArchiveError) {
    try ask(.list)
    for temporary in disk.names where temporary.hasPrefix(".") && temporary.hasSuffix(".tmp") {
      let stem = temporary.dropFirst().dropLast(".tmp".count)
      guard let dot = stem.lastIndex(of: "."), isOwn(String(stem[..<dot])),
        disk.holder(of: temporary) == nil
      else { continue }
      removeTemporary(temporary)
    }
  }

  func removeTemporary(_ name: String) {
    do throws(ArchiveError) {
      try make(.unlink) { (course) throws(ArchiveError) in try disk.unlink(name, course) }
    } catch {
      // It goes with a later one.
    }
  }
}

struct DiskStorage: ArchiveStorage {
  let process: DiskProcess
  let name: String
  let isDurable: Bool

  var disk: FaultyDisk { process.disk }
  var location: String { name }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try openForAppending() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try process.ask(.open)
    return disk.file(named: name).map { file in
      OpenDiskFile(
        process: process, name: name, file: file, byteCount: disk.byteCount(of: file))
    }
  }

  // MARK: Changes

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try process.sweepTemporaries { $0 == name }
    if isDurable { try process.ask(.openDirectory) }
    let temporary = ".\(name).\(disk.nextNumber()).tmp"
    let file = try process.make(.create) { (course) throws(ArchiveError) in
      try disk.create(temporary, course)
    }
    _ = disk.lock(temporary, by: process.number)
    defer { disk.unlock(temporary, by: process.number) }
    do {
      try body(DiskSink(process: process, file: file))
      if isDurable {
        try process.make(.synchronize) { (course) throws(ArchiveError) in
          try disk.synchronize(file, course)
        }
      }
      try rename(temporary, to: name)
    } catch {
      process.removeTemporary(temporary)
      throw error
    }
    try synchronizeDirectory()
  }

  func remove() throws(ArchiveError) {
    try process.sweepTemporaries { $0 == name }
    guard try isStored() else { return try synchronizeNames() }
    if isDurable { try process.ask(.openDirectory) }
    try process.make(.unlink) { (course) throws(ArchiveError) in try disk.unlink(name, course) }
    try synchronizeDirectory()
  }

  private func synchronizeNames() throws(ArchiveError) {
    if isDurable { try process.ask(.openDirectory) }
    try synchronizeDirectory()
  }

  private func isStored() throws(ArchiveError) -> Bool {
    try process.ask(.status)
    return disk.file(named: name) != nil
  }

  private func rename(_ old: String, to new: String) throws(ArchiveError) {
    try process.make(.rename) { (course) throws(ArchiveError) in
      try disk.rename(old, to: new, course)
    }
  }

  private func synchronizeDirectory() throws(ArchiveError) {
    guard isDurable else { return }
    do {
      try process.make(.synchronizeDirectory) { (course) throws(ArchiveError) in
        try disk.synchronizeDirectory(course)
      }
    } catch {
      throw ArchiveError(.notDurable, systemError: error.systemError)
    }
  }

  // MARK: Locks

  func lock() throws(ArchiveError) -> any ArchiveLock {
    guard !process.hasEnded else { throw ArchiveError(.inputOutput) }
    if let holder = disk.lock(name, by: process.number) {
      throw ArchiveError(.locked, subject: "process \(holder)")
    }
    return DiskLock(process: process, name: name)
  }

  func isLocked() throws(ArchiveError) -> Bool { disk.holder(of: name) != nil }
}

private final class DiskLock: ArchiveLock {
  private let process: DiskProcess
  private let name: String

  init(process: DiskProcess, name: String) {
    self.process = process
    self.name = name
  }

  deinit { process.disk.unlock(name, by: process.number) }

  func isHeld() throws(ArchiveError) -> Bool {
    try process.ask(.askForLock)
    return process.disk.holder(of: name) == process.number
  }
}

private final class DiskSink: ArchiveSink {
  private let process: DiskProcess
  private let file: Int
  private var end = 0

  init(process: DiskProcess, file: Int) {
    self.process = process
    self.file = file
  }

  func write(_ bytes: [UInt8]) throws(ArchiveError) {
    try process.make(.write) { (course) throws(ArchiveError) in
      try process.disk.write(bytes, to: file, at: end, course)
    }
    end += bytes.count
  }
}

private final class OpenDiskFile: AppendableArchiveFile {
  private let process: DiskProcess
  private let name: String
  private let file: Int
  private let isNameSynchronized = Flag()
  let byteCount: Int

  init(process: DiskProcess, name: String, file: Int, byteCount: Int) {
    (self.process, self.name, self.file, self.byteCount) = (process, name, file, byteCount)
  }

  var hasOtherNames: Bool { process.disk.hasOtherNames(file) }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try process.ask(.read)
    guard let bytes = process.disk.bytes(of: file, at: offset, count: count) else {
      throw ArchiveError(.truncated, offset: byteCount)
    }
    return bytes
  }

  func storedByteCount() throws(ArchiveError) -> Int? {
    try process.ask(.status)
    guard process.disk.file(named: name) == file else { return nil }
    return process.disk.byteCount(of: file)
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try process.make(.write) { (course) throws(ArchiveError) in
      try process.disk.write(bytes, to: file, at: offset, course)
    }
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    try process.make(.truncate) { (course) throws(ArchiveError) in
      try process.disk.truncate(file, to: byteCount, course)
    }
  }

  func synchronize() throws(ArchiveError) {
    try process.make(.synchronize) { (course) throws(ArchiveError) in
      try process.disk.synchronize(file, course)
    }
    guard !isNameSynchronized.isSet else { return }
    try process.ask(.openDirectory)
    try process.make(.synchronizeDirectory) { (course) throws(ArchiveError) in
      try process.disk.synchronizeDirectory(course)
    }
    isNameSynchronized.isSet = true
  }
}
