package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif
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
package final class LaunchFile: ArchiveStorage {
  /// The path of the file.
  package let location: String
  private let separate: FileStorage

  /// The open file, from the first use until nothing is stored any more.
  private let opened = Mutex<Opened?>(nil)

  /// Names the file that locks a state.
  ///
  /// - Parameters:
  ///   - state: The path of the state.
  ///   - path: The path of the separate file.
  package init(besideState state: String, orAt path: String) {
    location = LockFile.path(of: state)
    separate = FileStorage(path: path, isDurable: false)
  }

  // MARK: Reading

  package func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try located { () throws(ArchiveError) in
      // The file may be another one than before, if others had the lock meanwhile.
      opened.withLock { $0 = nil }
      guard let newest = try openFile()?.slots()?.newest else { return try separate.open() }
      return newest.isEmpty ? nil : MemoryFile(bytes: newest.content)
    }
  }

  /// Opens the archive, so that a note can be written behind it.
  package func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try located { () throws(ArchiveError) in
      guard let file = try openFile(), let newest = try file.slots()?.newest else {
        return try separate.openForAppending()
      }
      return newest.isEmpty ? nil : SlotFile(file, newest)
    }
  }

  private func openFile() throws(ArchiveError) -> Opened? {
    try opened.withLock { (opened) throws(ArchiveError) in
      if let opened { return opened }
      let found = try Opened(location)
      if found?.hasSlots == true { opened = found }
      return found
    }
  }

  // MARK: Changes

  package func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError)
  {
    let sink = MemorySink()
    try body(sink)
    try located { () throws(ArchiveError) in
      guard sink.bytes.count <= Slot.largestArchive else { return try moveOut(sink.bytes) }
      let isNew = try write(sink.bytes)
      if isNew { try removeSeparate() }
    }
  }

  /// Writes an archive to a slot; whether no slot was whole before.
  private func write(_ archive: [UInt8]) throws(ArchiveError) -> Bool {
    let file: Opened
    if let known = try openFile() {
      file = known
    } else {
      file = try Directory(parentOf: location).created { () throws(ArchiveError) in
        try Opened(making: location)
      }
    }
    let newest = try file.slots()?.newest
    if file.hasSlots {
      try file.write(Slot(archive, after: newest))
    } else {
      try file.makeSlots(with: archive)
      opened.withLock { $0 = file }
    }
    return newest == nil
  }

  /// Says in the file that there is no archive, and lets the file go, which stays where it is.
  package func blank() throws(ArchiveError) {
    try located { () throws(ArchiveError) in
      guard let file = try openFile(), let slots = try file.slots() else {
        return try removeSeparate()
      }
      if slots.newest?.isEmpty != true { try file.blank() }
      close()
      if slots.newest == nil { try removeSeparate() }
    }
  }

  /// Removes the archive, and the file if nobody has its lock.
  package func remove() throws(ArchiveError) {
    try located { () throws(ArchiveError) in
      if let file = try openFile() {
        if file.isLockedHere { return try blank() }
        if try !LockFile.remove(location) { try file.blank() }
      }
      close()
      try removeSeparate()
    }
  }

  private func removeSeparate() throws(ArchiveError) {
    if try separate.open() != nil { try separate.remove() }
  }

  /// Lets the file go, and writes no note to it any more: it may soon be another instance's.
  package func close() {
    opened.withLock { opened in
      opened?.close()
      opened = nil
    }
  }

  /// Stores an archive in the separate file.
  private func moveOut(_ archive: [UInt8]) throws(ArchiveError) {
    try separate.replace { sink throws(ArchiveError) in try sink.write(archive) }
    try openFile()?.clear()
  }

  package func setAside() throws(ArchiveError) -> String? {
    if let file = try open() { try moveOut(try file.read(at: 0, count: file.byteCount)) }
    return try separate.setAside()
  }

  package func lock() throws(ArchiveError) -> any ArchiveLock { try separate.lock() }

  package func isLocked() throws(ArchiveError) -> Bool { try separate.isLocked() }

  private func located<Result>(
    _ body: () throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    do throws(ArchiveError) {
      return try body()
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

  /// 0 or 1.
  let index: Int
  private let number: UInt64
  let archive: [UInt8]
  /// Empty if there is none.
  private(set) var note: [UInt8] = []

  /// The slot for an archive that replaces another one.
  init(_ archive: [UInt8], after other: Slot?) {
    index = other.map { 1 - $0.index } ?? 0
    number = (other?.number ?? 0) &+ 1
    self.archive = archive
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

  /// The bytes of the slot without a note; those behind them do not count.
  var bytes: [UInt8] {
    header + RecordChecksum.of(header + archive) + archive
      + [UInt8](repeating: 0, count: Self.noteByteCount)
  }

  var isEmpty: Bool { archive.isEmpty }

  /// The archive with the note behind it.
  var content: [UInt8] { archive + note }

  func isAfter(_ other: Slot) -> Bool { number > other.number }

  func isSame(as other: Slot) -> Bool { index == other.index && number == other.number }
}

/// The open file of a lock.
private final class Opened: Sendable {
  struct Slots: Sendable {
    /// Nil if no slot is whole.
    var newest: Slot?
  }

  private let file: OpenFile
  private let isWritable: Bool
  /// Whether this process has the lock of the file.
  let isLockedHere: Bool
  private let isClosed = Atomic(false)
  /// Asked once, since a launch writes some bytes again and again.
  private let hasFileSizeLimit = SystemCall.hasFileSizeLimit
  private let state: Mutex<State>

  private struct State {
    var byteCount: Int
    /// The slots, once they were read.
    var slots: Slots?
  }

  /// Opens the file for reading and, if that is possible, for writing; nil if there is none.
  init?(_ path: String) throws(ArchiveError) {
    var status = stat()
    var isWritable = true
    var file: OpenFile?
    do throws(ArchiveError) {
      file = try OpenFile.existing(path, O_RDWR) { status = $0 }
    } catch {
      guard error.code == .permissionDenied else { throw error }
      isWritable = false
      file = try OpenFile.existing(path) { status = $0 }
    }
    guard let file else { return nil }
    // A file with a second name may be one of the user's own.
    guard status.st_nlink <= 1 else { throw ArchiveError(.notAFile) }
    self.file = file
    self.isWritable = isWritable
    isLockedHere = LockFile.isHeldHere(status)
    state = Mutex(State(byteCount: Int(status.st_size)))
  }

  /// Makes the file.
  init(making path: String) throws(ArchiveError) {
    file = try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
    isWritable = true
    let status = try file.status()
    isLockedHere = LockFile.isHeldHere(status)
    state = Mutex(State(byteCount: Int(status.st_size)))
  }

  var hasSlots: Bool { state.withLock { $0.byteCount == LockFile.byteCount } }

  /// The slots; nil if the file has none.
  func slots() throws(ArchiveError) -> Slots? {
    guard hasSlots else { return nil }
    return try state.withLock { (state) throws(ArchiveError) in
      if let slots = state.slots { return slots }
      let record = try read(at: LockFile.recordOffset, count: 2 * Slot.byteCount)
      let (first, second) = (Slot(0, in: record), Slot(1, in: record))
      var slots = Slots(newest: first ?? second)
      if let first, let second, second.isAfter(first) { slots.newest = second }
      state.slots = slots
      return slots
    }
  }

  /// Whether no other slot was written since; nothing else is known once the slots were overwritten.
  func isNewest(_ slot: Slot) -> Bool {
    state.withLock { $0.slots?.newest.map { $0.isSame(as: slot) } ?? false }
  }

  private func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, read throws(ArchiveError) in
      try unsafe read = file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Adds two slots to the file, one with an archive.
  func makeSlots(with archive: [UInt8]) throws(ArchiveError) {
    let holder = try read(at: 0, count: LockFile.recordOffset)
    let padding = LockFile.recordOffset - holder.count
    let slot = Slot(archive, after: nil)
    var bytes = [UInt8](repeating: LockFile.padding, count: padding) + slot.bytes
    bytes += [UInt8](
      repeating: 0, count: LockFile.byteCount - holder.count - bytes.count)
    try write(bytes, at: holder.count)
    state.withLock { $0 = State(byteCount: LockFile.byteCount, slots: Slots(newest: slot)) }
  }

  func write(_ slot: Slot) throws(ArchiveError) {
    state.withLock { $0.slots = nil }
    try write(slot.bytes, at: LockFile.recordOffset + slot.index * Slot.byteCount)
    state.withLock { $0.slots = Slots(newest: slot) }
  }

  /// Says that there is no archive, and overwrites all that were there.
  func blank() throws(ArchiveError) {
    guard hasSlots else { return }
    let bytes = Slot([], after: nil).bytes
    try overwrite(bytes + [UInt8](repeating: 0, count: 2 * Slot.byteCount - bytes.count))
  }

  /// Overwrites both slots with zeros.
  func clear() throws(ArchiveError) {
    guard hasSlots else { return }
    try overwrite([UInt8](repeating: 0, count: 2 * Slot.byteCount))
  }

  private func overwrite(_ record: [UInt8]) throws(ArchiveError) {
    state.withLock { $0.slots = nil }
    try write(record, at: LockFile.recordOffset)
  }

  func close() { isClosed.store(true, ordering: .releasing) }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    guard !isClosed.load(ordering: .acquiring) else { throw ArchiveError(.outdated) }
    guard isWritable else { throw ArchiveError(.permissionDenied) }
    try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(ArchiveError) in
      let bytes = UnsafeRawBufferPointer(buffer)
      if hasFileSizeLimit {
        try unsafe file.write(bytes, at: offset)
      } else {
        try unsafe file.writeUnlimited(bytes, at: offset)
      }
    }
  }
}

/// A slot that is open for a note behind its archive.
private final class SlotFile: AppendableArchiveFile {
  private let file: Opened
  private let slot: Slot

  init(_ file: Opened, _ slot: Slot) {
    (self.file, self.slot) = (file, slot)
  }

  var byteCount: Int { slot.content.count }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try MemoryFile(bytes: slot.content).read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? { byteCount }

  /// Writes the note; there is room for nothing else.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    guard offset >= slot.archive.count, Slot.archiveOffset + offset + bytes.count <= Slot.byteCount
    else { throw ArchiveError(.storageFull) }
    // The slot may have another archive by now, with a note of its own.
    guard file.isNewest(slot) else { throw ArchiveError(.outdated) }
    let start = LockFile.recordOffset + slot.index * Slot.byteCount + Slot.archiveOffset
    try file.write(bytes, at: start + offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {}

  func synchronize() throws(ArchiveError) {}
}

private struct MemoryFile: ArchiveFile {
  let bytes: [UInt8]

  var byteCount: Int { bytes.count }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    guard offset >= 0, count >= 0, offset <= byteCount, count <= byteCount - offset else {
      throw ArchiveError(.truncated, offset: byteCount)
    }
    return Array(bytes[offset..<offset + count])
  }
}
