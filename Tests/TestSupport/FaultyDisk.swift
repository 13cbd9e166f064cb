internal import ArchiveCodec
internal import Foundation
internal import Synchronization

/// A disk in memory: what the calls below `FileStorage` do, and how they fail.
///
/// It holds names and files twice, as the system sees them and as they are on the
/// disk for good. What was not synced a power cut may undo: of a file any sectors
/// (``DiskFile``), of the names the last changes, in their order, as the journal of a
/// file system has it. A rename that was not synced leaves the old name, the new one,
/// or both. What was synced stays as it is, unless the sync has lied.
///
/// All that is not said by the caller comes from one seed.
package final class FaultyDisk: Sendable {
  /// What a process asks the system for.
  package enum Call: Hashable, Sendable {
    case open, status, read, create, write, truncate, synchronize
    case link, rename, unlink, openDirectory, synchronizeDirectory, list, askForLock

    /// Whether something is another than before, once the call is done.
    var isChange: Bool {
      switch self {
      case .create, .write, .truncate, .synchronize, .link, .rename, .unlink,
        .synchronizeDirectory:
        true
      case .open, .status, .read, .openDirectory, .list, .askForLock: false
      }
    }
  }

  /// How much of a call is done when the process ends in it.
  package enum Extent: Hashable, Sendable {
    case nothing, part, all
  }

  /// What a power cut leaves of what was not synced.
  package enum Remains: Hashable, Sendable {
    case nothing
    /// The names and the lengths, and zeros instead of what was written.
    case names
  }

  /// What is to become of a call.
  package enum Fault: Hashable, Sendable {
    /// It fails, and of a write a part is done.
    case failure
    /// The process ends before the call, after it, or in the midst of it.
    case end
    /// The process ends in a call that changes something; the others do not count.
    case endAt(Extent)
    /// The next sync says that it is done, and is not.
    case lie
  }

  enum Course {
    case done
    case fails(CInt)
    /// How much of the call is done; nil for anything.
    case ends(Extent? = nil)
    case lies

    /// What the process is told.
    func finish() throws(ArchiveError) {
      switch self {
      case .done, .lies: break
      case .fails(let number): throw ArchiveError(systemError: number)
      case .ends: throw ArchiveError(.inputOutput, subject: "the process has ended")
      }
    }
  }

  private enum NameChange {
    case link(String, file: Int)
    case unlink(String)
    case rename(String, to: String)

    /// Halfway a rename has linked the new name and not unlinked the old one.
    func apply(to names: inout [String: Int], isWhole: Bool = true) {
      switch self {
      case .link(let name, let file): names[name] = file
      case .unlink(let name): if isWhole { names[name] = nil }
      case .rename(let old, let new):
        names[new] = names[old]
        if isWhole { names[old] = nil }
      }
    }

    func mentions(_ name: String) -> Bool {
      switch self {
      case .link(let other, _), .unlink(let other): name == other
      case .rename(let old, let new): name == old || name == new
      }
    }
  }

  private struct State {
    var random: SeededGenerator
    var files: [DiskFile] = []
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    /// What was changed since the last sync of the directory.
    var changes: [NameChange] = []
    /// How many of the changes a sync has said to be on the disk.
    var owedCount = 0
    /// The processes that have locks.
    var locks: [String: Int] = [:]
    var isFull = false
    var processCount = 0
    var madeNameCount = 0

    mutating func change(_ change: NameChange) {
      change.apply(to: &names)
      changes.append(change)
    }

    /// Some of the changes reach the disk.
    mutating func persist(_ count: Int) {
      for change in changes.prefix(count) { change.apply(to: &durableNames) }
      changes.removeFirst(count)
      owedCount = max(0, owedCount - count)
    }
  }

  private let state: Mutex<State>

  package init(seed: UInt64) {
    state = Mutex(State(random: SeededGenerator(seed: seed)))
  }

  /// Whether there is no room for anything new.
  package var isFull: Bool {
    get { state.withLock { $0.isFull } }
    set { state.withLock { $0.isFull = newValue } }
  }

  /// A process that uses the disk.
  package func process() -> DiskProcess {
    DiskProcess(
      self,
      number: state.withLock { state in
        state.processCount += 1
        return state.processCount
      })
  }

  /// The bytes under a name, as the system sees them.
  package func bytes(of name: String) -> [UInt8]? {
    state.withLock { state in state.names[name].map { state.files[$0].bytes } }
  }

  // MARK: Power

  /// Leaves what is on the disk for good, and of the rest anything.
  ///
  /// Every process must have ended before.
  package func cutPower() {
    state.withLock { state in
      let count = Int.random(in: 0...state.changes.count, using: &state.random)
      let next = state.changes.dropFirst(count).first
      state.persist(count)
      if let next, Bool.random(using: &state.random) {
        next.apply(to: &state.durableNames, isWhole: false)
      }
      (state.changes, state.owedCount) = ([], 0)
      // By their names, since a dictionary has another order in each process.
      for file in Set(state.durableNames.values).sorted() {
        state.files[file].cutPower(&state.random)
      }
      state.names = state.durableNames
    }
  }

  /// Leaves what is on the disk for good, and of the rest what is said.
  ///
  /// Every process must have ended before.
  package func cutPower(leaving remains: Remains) {
    state.withLock { state in
      if remains == .names { state.persist(state.changes.count) }
      (state.changes, state.owedCount) = ([], 0)
      for file in Set(state.durableNames.values) {
        state.files[file].cutPower(keepingLength: remains == .names)
      }
      state.names = state.durableNames
    }
  }

  /// Whether a sync has lied about what the name stands for, and no later one has
  /// made it true.
  package func owes(_ name: String) -> Bool {
    state.withLock { state in
      if state.changes.prefix(state.owedCount).contains(where: { $0.mentions(name) }) {
        return true
      }
      // What it stands for after some of the changes.
      var names = state.durableNames
      var files = [names[name]]
      for change in state.changes {
        change.apply(to: &names)
        files.append(names[name])
      }
      return files.contains { $0.map { state.files[$0].isOwed } ?? false }
    }
  }

  // MARK: Calls

  /// How a call that is to fail does so.
  func failure(of call: Call) -> Course {
    let needsRoom = [.create, .write, .synchronize, .link, .rename].contains(call)
    return .fails(needsRoom && state.withLock { Bool.random(using: &$0.random) } ? ENOSPC : EIO)
  }

  /// How the disk fails it by itself.
  func course(of call: Call) -> Course {
    state.withLock { $0.isFull && [.create, .write].contains(call) ? .fails(ENOSPC) : .done }
  }

  func file(named name: String) -> Int? { state.withLock { $0.names[name] } }

  /// Whether a file has more names than one.
  func hasOtherNames(_ file: Int) -> Bool {
    state.withLock { state in state.names.values.count { $0 == file } > 1 }
  }

  func byteCount(of file: Int) -> Int { state.withLock { $0.files[file].bytes.count } }

  func bytes(of file: Int, at offset: Int, count: Int) -> [UInt8]? {
    state.withLock { state in
      let bytes = state.files[file].bytes
      guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else {
        return nil
      }
      return Array(bytes[offset..<offset + count])
    }
  }

  func create(_ name: String, _ course: Course) throws(ArchiveError) -> Int {
    let file = state.withLock { state in
      if isDone(course, &state.random) {
        state.files.append(DiskFile())
        state.change(.link(name, file: state.files.count - 1))
      }
      return state.files.count - 1
    }
    try course.finish()
    return file
  }

  func write(_ bytes: [UInt8], to file: Int, at offset: Int, _ course: Course) throws(ArchiveError)
  {
    state.withLock { state in
      let count =
        switch course {
        case .done, .lies: bytes.count
        case .ends(.all): bytes.count
        case .ends(.part): bytes.count / 2
        case .ends(.nothing): 0
        case .fails, .ends: Int.random(in: 0...bytes.count, using: &state.random)
        }
      state.files[file].write(bytes.prefix(count), at: offset)
    }
    try course.finish()
  }

  func truncate(_ file: Int, to byteCount: Int, _ course: Course) throws(ArchiveError) {
    state.withLock { state in
      // One that fails may have done it.
      let isDone =
        if case .fails = course { Bool.random(using: &state.random) } else {
          isDone(course, &state.random)
        }
      if isDone { state.files[file].truncate(to: byteCount) }
    }
    try course.finish()
  }

  func synchronize(_ file: Int, _ course: Course) throws(ArchiveError) {
    state.withLock { state in
      switch course {
      case .done: state.files[file].synchronize()
      case .fails: state.files[file].failToSynchronize(&state.random)
      case .lies: state.files[file].owe()
      case .ends: if isDone(course, &state.random) { state.files[file].synchronize() }
      }
    }
    try course.finish()
  }

  func rename(_ old: String, to new: String, _ course: Course) throws(ArchiveError) {
    state.withLock { state in
      if isDone(course, &state.random) { state.change(.rename(old, to: new)) }
    }
    try course.finish()
  }

  /// Gives the file under a name another one, if there is a file.
  func link(_ old: String, to new: String, _ course: Course) throws(ArchiveError) {
    state.withLock { state in
      if let file = state.names[old], isDone(course, &state.random) {
        state.change(.link(new, file: file))
      }
    }
    try course.finish()
  }

  func unlink(_ name: String, _ course: Course) throws(ArchiveError) {
    state.withLock { state in
      if isDone(course, &state.random) { state.change(.unlink(name)) }
    }
    try course.finish()
  }

  func synchronizeDirectory(_ course: Course) throws(ArchiveError) {
    state.withLock { state in
      switch course {
      case .done: state.persist(state.changes.count)
      case .lies: state.owedCount = state.changes.count
      case .ends(let extent?): if extent == .all { state.persist(state.changes.count) }
      case .fails, .ends:
        state.persist(Int.random(in: 0...state.changes.count, using: &state.random))
      }
    }
    try course.finish()
  }

  /// What changes names is done as a whole or not at all.
  private func isDone(_ course: Course, _ random: inout SeededGenerator) -> Bool {
    switch course {
    case .done, .lies: true
    case .fails: false
    case .ends(let extent): extent.map { $0 == .all } ?? Bool.random(using: &random)
    }
  }

  package var names: [String] { state.withLock { $0.names.keys.sorted() } }

  /// A number for a name that no file has had.
  func nextNumber() -> Int {
    state.withLock { state in
      state.madeNameCount += 1
      return state.madeNameCount
    }
  }

  // MARK: Locks

  /// Nil if the process has it now; else the one who has it.
  func lock(_ name: String, by process: Int) -> Int? {
    state.withLock { state in
      if let holder = state.locks[name] { return holder }
      state.locks[name] = process
      return nil
    }
  }

  func holder(of name: String) -> Int? { state.withLock { $0.locks[name] } }

  func unlock(_ name: String, by process: Int) {
    state.withLock { state in
      if state.locks[name] == process { state.locks[name] = nil }
    }
  }

  func unlockAll(of process: Int) {
    state.withLock { state in state.locks = state.locks.filter { $0.value != process } }
  }
}
