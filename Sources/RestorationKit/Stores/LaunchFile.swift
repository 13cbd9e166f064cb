package import ArchiveCodec
internal import RestorationLibc
internal import Synchronization

/// A small archive in the file that locks a state, written in place.
///
/// A launch writes its marker twice, and to replace a file took 45 calls of the system each time. In
/// place it takes one, and no room on a full disk once the file is there. The file is that of the lock,
/// so a launch has one file to open beside the state.
///
///     0     128   the holder of the lock, as text
///     128   1984  a slot
///     2112  1984  a slot
///     3328  768   the appendix, if no archive of the second slot reaches there
///
/// A slot has this content, with integers in little-endian order, or zeros:
///
///     0     8     magic
///     8     8     a number, one more than that of the other slot
///     16    4     the size of the archive; 0 if there is none
///     20    16    a checksum of the bytes before it and of the archive
///     36    …     the archive, which is sealed
///     …     8     a note, which its owner writes in place; zeros if there is none
///
/// Of two whole slots the one with the greater number counts, and the other one is written next. So a
/// write that ends in the midst leaves the archive of before. Nothing is put on stable storage.
///
/// An archive that is too large for a slot is in a file of its own, where earlier versions of the
/// library have all of them. That file counts if no slot is whole.
///
/// The appendix belongs to no archive: it stays when they are replaced or blanked. Its owner seals it,
/// so one that was half written, or overwritten by a large archive, does not open and counts as none.
package final class LaunchFile: ArchiveStorage {
  private struct Newest {
    /// Nil if no slot is whole.
    let slot: Slot?
    weak var file: OpenLockFile?
  }

  private struct State {
    /// The open file, from the first use until nothing is stored any more, if it is not that of the
    /// lock.
    var file: OpenLockFile?
    /// The slot that counts, once it was read, and the file that has it.
    var newest: Newest?
    /// What stood in the place of the appendix when the slots were read.
    var appendix: [UInt8] = []
    /// Whether the file may be another instance's by now, until an archive is stored again.
    var isClosed = false

    mutating func letGo() { (file, newest, appendix) = (nil, nil, []) }
  }

  /// The path of the file.
  package let location: String
  private let separate: FileStorage
  private let state = Mutex(State())

  /// Names the file that locks a state.
  ///
  /// - Parameters:
  ///   - state: The path of the state.
  ///   - separate: The separate file.
  package init(besideState state: String, or separate: FileStorage) {
    location = LockFile.path(of: state)
    self.separate = separate
  }

  // MARK: Reading

  package func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try changing { (state) throws(ArchiveError) in
      // The file may be another one than before, if others had the lock meanwhile.
      state.letGo()
      guard let newest = try newest(&state) else { return try separate.open() }
      return newest.isEmpty ? nil : try MemoryStorage(newest.content).open()
    }
  }

  /// Opens the archive, so that a note can be written behind it.
  package func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try changing { (state) throws(ArchiveError) in
      guard let newest = try newest(&state) else { return try separate.openForAppending() }
      return newest.isEmpty ? nil : SlotFile(self, newest)
    }
  }

  /// The slot that counts; nil if no slot is whole.
  private func newest(_ state: inout State) throws(ArchiveError) -> Slot? {
    guard let file = try openFile(&state), file.hasRecord else { return nil }
    // Somebody may have removed the file, and the one that is locked since is another one.
    if let known = state.newest, known.file === file { return known.slot }
    let record = try file.record()
    let (first, second) = (Slot(0, in: record), Slot(1, in: record))
    let isSecond = first.flatMap { first in second.map { $0.isAfter(first) } } ?? (first == nil)
    let newest = isSecond ? second : first
    state.newest = Newest(slot: newest, file: file)
    state.appendix = Array(record.dropFirst(Slot.appendixOffset))
    return newest
  }

  private func openFile(_ state: inout State) throws(ArchiveError) -> OpenLockFile? {
    if let file = OpenLockFile.locked(location) ?? state.file { return file }
    let file = try OpenLockFile(location)
    // Without slots there is nothing to come back to.
    if file?.hasRecord == true { state.file = file }
    return file
  }

  // MARK: Changes

  package func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError)
  {
    let sink = MemorySink()
    try body(sink)
    if try replace(sink.bytes, note: []) { return }
    try changing { (state) throws(ArchiveError) in try moveOut(sink.bytes, &state) }
  }

  /// Replaces the archive, with the note behind it.
  ///
  /// - Returns: Whether the archive is in a slot now; false, and nothing is changed, if it is too
  ///   large for one.
  package func replace(_ archive: [UInt8], note: [UInt8]) throws(ArchiveError) -> Bool {
    try changing { (state) throws(ArchiveError) in
      state.isClosed = false
      guard archive.count <= Slot.largestArchive else { return false }
      try write(archive, note, &state)
      return true
    }
  }

  /// Writes an archive to a slot.
  private func write(
    _ archive: [UInt8], _ note: [UInt8], _ state: inout State
  ) throws(ArchiveError) {
    let before = try newest(&state)
    let slot = Slot(archive, note: note, after: before)
    let file = try openOrMadeFile(&state)
    state.newest = nil
    if file.hasRecord {
      try file.write(slot.bytes, at: slot.offset)
    } else {
      try file.makeRecord(slot.bytes)
    }
    state.newest = Newest(slot: slot, file: file)
    // Whoever keeps the file of the lock keeps the lock.
    if !file.isOfLock { state.file = file }
    if before == nil { try removeSeparate() }
  }

  private func openOrMadeFile(_ state: inout State) throws(ArchiveError) -> OpenLockFile {
    if let file = try openFile(&state) { return file }
    return try Directory(parentOf: location).created { () throws(ArchiveError) in
      try OpenLockFile(making: location)
    }
  }

  /// Says in the file that there is no archive, and lets the file go, which stays where it is.
  package func blank() throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in
      let newest = try newest(&state)
      if newest?.isEmpty != true, let file = try openFile(&state), file.hasRecord {
        try Self.blank(file, Slot([], after: nil).bytes)
      }
      state.letGo()
      if newest == nil { try removeSeparate() }
    }
  }

  /// Removes the archive; the file goes, too, now or with its lock.
  package func remove() throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in
      if let file = try openFile(&state) {
        // What another instance has locked is its own.
        if file.isLockedHere { try file.cutRecord() } else { try LockFile.remove(location) }
      }
      state.letGo()
      try removeSeparate()
    }
  }

  private func removeSeparate() throws(ArchiveError) {
    if try separate.open() != nil { try separate.remove() }
  }

  /// Writes no note any more, since the file may soon be another instance's.
  package func close() {
    state.withLock { state in
      state.letGo()
      state.isClosed = true
    }
  }

  /// Stores an archive in the separate file.
  private func moveOut(_ archive: [UInt8], _ state: inout State) throws(ArchiveError) {
    try separate.replace { sink throws(ArchiveError) in try sink.write(archive) }
    if let file = try openFile(&state), file.hasRecord { try Self.blank(file, []) }
    state.letGo()
  }

  /// Overwrites both slots with bytes, and with zeros behind them; the appendix stays.
  private static func blank(_ file: OpenLockFile, _ bytes: [UInt8]) throws(ArchiveError) {
    let zeros = [UInt8](repeating: 0, count: Slot.appendixOffset - bytes.count)
    try file.write(bytes + zeros, at: LockFile.recordOffset)
  }

  // MARK: The appendix

  /// What is in the place of the appendix; empty without a record.
  ///
  /// After the slots were read it asks nothing of the system.
  package func appendix() throws(ArchiveError) -> [UInt8] {
    try changing { (state) throws(ArchiveError) in
      _ = try newest(&state)
      return state.appendix
    }
  }

  /// Writes the appendix in place; an empty one is none.
  ///
  /// - Returns: Whether there is room for it, and the file is still the caller's.
  package func replaceAppendix(_ bytes: [UInt8]) throws(ArchiveError) -> Bool {
    try changing { (state) throws(ArchiveError) in
      guard !state.isClosed, bytes.count <= Slot.appendixByteCount else { return false }
      if let newest = try newest(&state), newest.reachesAppendix { return false }
      // Zeros in its first bytes are enough to say that there is none.
      let beginning = [UInt8](repeating: 0, count: max(0, 8 - bytes.count))
      if bytes.isEmpty, state.appendix.starts(with: beginning) || state.appendix.isEmpty {
        return true
      }
      let file = try openOrMadeFile(&state)
      if !file.hasRecord { try file.makeRecord([]) }
      let written = bytes + beginning
      try file.write(written, at: LockFile.recordOffset + Slot.appendixOffset)
      state.appendix = written
      return true
    }
  }

  /// Writes a note into a slot, if its archive is the one that counts: a slot is used again, and the
  /// file may be another instance's.
  fileprivate func write(
    note: [UInt8], at offset: Int, in slot: Slot
  ) throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in
      guard !state.isClosed, let newest = try newest(&state), newest.isSame(as: slot),
        let file = try openFile(&state)
      else { throw ArchiveError(.outdated) }
      try file.write(note, at: slot.offset + Slot.archiveOffset + offset)
    }
  }

  package func setAside() throws(ArchiveError) -> String? {
    if let file = try open() {
      let bytes = try file.read(at: 0, count: file.byteCount)
      try changing { (state) throws(ArchiveError) in try moveOut(bytes, &state) }
    }
    return try separate.setAside()
  }

  package func lock() throws(ArchiveError) -> any ArchiveLock { try separate.lock() }

  package func isLocked() throws(ArchiveError) -> Bool { try separate.isLocked() }

  private func changing<Result>(
    _ body: (inout State) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    do throws(ArchiveError) {
      return try state.withLock { (state) throws(ArchiveError) in try body(&state) }
    } catch {
      throw error.located(at: location)
    }
  }
}

/// A slot with an archive.
private struct Slot: Sendable {
  static let byteCount = (LockFile.byteCount - LockFile.recordOffset) / 2
  private static let magic: [UInt8] = [0x89, 0x52, 0x4B, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let checksumOffset = 20
  static let archiveOffset = checksumOffset + RecordChecksum.byteCount
  private static let noteByteCount = 8
  static let largestArchive = byteCount - archiveOffset - noteByteCount
  static let appendixByteCount = 768
  /// Where the appendix is, behind the beginning of the first slot.
  static let appendixOffset = 2 * byteCount - appendixByteCount

  /// 0 or 1.
  let index: Int
  private let number: UInt64
  let archive: [UInt8]
  /// Empty if there is none.
  private(set) var note: [UInt8] = []

  /// The slot for an archive that replaces another one.
  init(_ archive: [UInt8], note: [UInt8] = [], after other: Slot?) {
    index = other.map { 1 - $0.index } ?? 0
    number = (other?.number ?? 0) &+ 1
    (self.archive, self.note) = (archive, note)
  }

  /// Reads the slot; nil if it is blank, or not whole.
  init?(_ index: Int, in record: [UInt8]) {
    let start = index * Self.byteCount
    guard record.count == 2 * Self.byteCount, record[start...].starts(with: Self.magic) else {
      return nil
    }
    func integer(at offset: Int, count: Int) -> UInt64 {
      record[start + offset..<start + offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    let count = integer(at: 16, count: 4)
    guard count <= Self.largestArchive else { return nil }
    self.index = index
    number = integer(at: 8, count: 8)
    let end = start + Self.archiveOffset + Int(count)
    archive = Array(record[start + Self.archiveOffset..<end])
    let note = record[end..<end + Self.noteByteCount]
    if note.contains(where: { $0 != 0 }) { self.note = Array(note) }
    let checksum = record[start + Self.checksumOffset..<start + Self.archiveOffset]
    guard Array(checksum) == RecordChecksum.of(header + archive) else { return nil }
  }

  private var header: [UInt8] {
    var header = Self.magic
    header += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    header += (0..<4).map { UInt8(truncatingIfNeeded: archive.count >> (8 * $0)) }
    return header
  }

  /// The bytes of the slot; those behind them do not count.
  var bytes: [UInt8] {
    header + RecordChecksum.of(header + archive) + archive + note
      + [UInt8](repeating: 0, count: Self.noteByteCount - note.count)
  }

  /// The offset of the slot in the file.
  var offset: Int { LockFile.recordOffset + index * Self.byteCount }

  var isEmpty: Bool { archive.isEmpty }

  var reachesAppendix: Bool { index * Self.byteCount + bytes.count > Self.appendixOffset }

  /// The archive with the note behind it.
  var content: [UInt8] { archive + note }

  func isAfter(_ other: Slot) -> Bool { number > other.number }

  /// Whether both hold the same archive; no two are sealed alike.
  func isSame(as other: Slot) -> Bool { index == other.index && archive == other.archive }
}

/// A slot that is open for a note behind its archive.
private final class SlotFile: AppendableArchiveFile {
  private let file: LaunchFile
  private let slot: Slot

  init(_ file: LaunchFile, _ slot: Slot) {
    (self.file, self.slot) = (file, slot)
  }

  var byteCount: Int { slot.content.count }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    guard let file = try MemoryStorage(slot.content).open() else { return [] }
    return try file.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? { byteCount }

  /// Writes the note; there is room for nothing else.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    guard offset >= slot.archive.count, Slot.archiveOffset + offset + bytes.count <= Slot.byteCount
    else { throw ArchiveError(.storageFull) }
    try file.write(note: bytes, at: offset, in: slot)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {}

  func synchronize() throws(ArchiveError) {}
}
