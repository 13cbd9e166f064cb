import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization

/// A way in which a storage breaks a promise.
enum StorageFlaw: String, CaseIterable, Sendable {
  case emptyIsAFile, noLocation, shortRead, paddedRead
  case lostBytes, oldBytesStay, tornOnError, errorIsSwallowed, errorIsAnother, seenBeforeTheEnd
  case openedChanges, settingAsideDoesNotReplace, settingAsideTears, settingAsideFirst
  case appendIsLost, staleAppendable, growingByteCount, truncateDoesNothing, replacementUnnoticed
  case sizeOfItsOwn
  case lockIsShared, lockRaces, lockStays, lockStores, replaceTakesTheLock
  case removeDoesNothing, setAsideStays
  case unlisted, reasonIsLost, newestFirst, setAsideForgets, setAsideCollides, removeTakesAll
  case otherReasonsAreLost, failureLosesAll, keepsAllHistory
  case noGenerations, newestGenerationFirst, generationWithoutAppended, generationOfTheStart
  case failedGeneration
  case putBackDoesNothing, putBackTakesTheLast, generationStays
  case removeSetAsideTakesAll, removeSetAsideTakesOne, removeSetAsideLeavesGenerations
  case goneSetAsideIsAnError
}

/// A storage in memory with a flaw.
final class FlawedStorage: ArchiveStorage {
  private struct Content {
    var locks: [any ArchiveLock] = []
    var asOfReplacement: [UInt8]?
  }

  private let base = MemoryStorage()
  private let flaw: StorageFlaw
  private let content = Mutex(Content())
  private let meeting = Meeting()

  init(_ flaw: StorageFlaw) {
    self.flaw = flaw
  }

  var location: String { flaw == .noLocation ? "" : base.location }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try file(isAppendable: false) }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try file(isAppendable: true)
  }

  private func file(isAppendable: Bool) throws(ArchiveError) -> FlawedFile? {
    if flaw == .emptyIsAFile, base.bytes == nil { base.bytes = [] }
    guard let file = try base.openForAppending() else { return nil }
    return FlawedFile(
      base: file, storage: base, snapshot: base.bytes ?? [], isAppendable: isAppendable, flaw: flaw)
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    let old = base.bytes
    if flaw == .replaceTakesTheLock { content.withLock { $0.locks = [] } }
    if flaw == .seenBeforeTheEnd { base.bytes = [1] }
    if flaw == .keepsAllHistory {
      return try base.replace(settingAside: .previous, at: Date(), body)
    }
    do throws(ArchiveError) {
      try base.replace(body)
    } catch {
      switch flaw {
      case .tornOnError: base.bytes = [1, 2, 3]
      case .seenBeforeTheEnd: base.bytes = old
      case .errorIsSwallowed: return
      case .errorIsAnother: throw ArchiveError(error.code)
      default: break
      }
      throw error
    }
    switch flaw {
    case .lostBytes: base.bytes = base.bytes.map { Array($0.prefix(1000)) }
    case .oldBytesStay:
      if let old, let new = base.bytes { base.bytes = new + old.dropFirst(new.count) }
    default: break
    }
    let bytes = base.bytes
    content.withLock { $0.asOfReplacement = bytes }
  }

  func lock() throws(ArchiveError) -> any ArchiveLock {
    if flaw == .lockStores, base.bytes == nil { base.bytes = [] }
    switch flaw {
    case .lockIsShared:
      if try base.isLocked() { return FreeLock() }
    case .lockRaces:
      guard try !base.isLocked() else { break }
      meeting.meet()
      if try base.isLocked() { return FreeLock() }
    case .lockStays:
      let lock = try base.lock()
      content.withLock { $0.locks.append(lock) }
      return lock
    case .replaceTakesTheLock:
      let lock = try base.lock()
      content.withLock { $0.locks = [lock] }
      return FreeLock()
    default: break
    }
    return try base.lock()
  }

  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }

  func remove() throws(ArchiveError) {
    if flaw == .removeDoesNothing { return }
    if flaw == .removeTakesAll {
      for archive in try base.setAsideArchives() { try archive.storage.remove() }
    }
    try base.remove()
  }

  func setAside() throws(ArchiveError) -> String? {
    guard flaw == .setAsideForgets, base.bytes != nil else {
      return try setAside(.unreadable, at: Date(timeIntervalSinceReferenceDate: 0))
    }
    try base.remove()
    return "nowhere"
  }

  func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    let old = base.bytes
    if flaw == .setAsideCollides {
      for archive in try base.setAsideArchives() where archive.date == date {
        try archive.storage.remove()
      }
    }
    let place = try base.setAside(flaw == .reasonIsLost ? .unreadable : reason, at: date)
    if flaw == .setAsideStays { base.bytes = old }
    return place
  }

  func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    let archives = try base.setAsideArchives()
    switch flaw {
    case .unlisted: return []
    case .newestFirst: return archives.reversed()
    default: return archives
    }
  }

  func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let old = base.bytes
    switch flaw {
    case .settingAsideDoesNotReplace:
      let sink = MemoryStorage()
      return try sink.replace(body)
    case .otherReasonsAreLost where !reason.isGeneration, .noGenerations where reason.isGeneration:
      return try base.replace(body)
    case .settingAsideFirst:
      _ = try base.setAside(reason, at: date)
      return try base.replace(body)
    case .generationOfTheStart:
      let new = MemoryStorage()
      try new.replace(body)
      base.bytes = old
      let bytes = new.bytes ?? []
      return try base.replace(settingAside: reason, at: date) { sink throws(ArchiveError) in
        try sink.write(bytes)
      }
    case .generationWithoutAppended:
      base.bytes = content.withLock { $0.asOfReplacement } ?? old
    case .failedGeneration:
      if old != nil { _ = try base.setAside(reason, at: date) }
      base.bytes = old
      return try base.replace(body)
    default: break
    }
    do throws(ArchiveError) {
      try base.replace(settingAside: reason, at: date, body)
    } catch {
      if flaw == .settingAsideTears { base.bytes = [1] }
      if flaw == .failureLosesAll { base.bytes = nil }
      throw error
    }
  }

  func generations() throws(ArchiveError) -> [SetAsideArchive] {
    let archives = try base.generations()
    return flaw == .newestGenerationFirst ? archives.reversed() : archives
  }

  func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    if flaw == .putBackDoesNothing { return }
    if flaw == .generationStays, archive.reason?.isGeneration == true {
      let bytes = (archive.storage as? MemoryStorage)?.bytes
      base.bytes = bytes
      return
    }
    let last = try base.setAsideArchives().last
    try base.putBack(flaw == .putBackTakesTheLast ? last ?? archive : archive)
  }

  func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    switch flaw {
    case .removeSetAsideTakesAll: try base.removeSetAside(try base.setAsideArchives())
    case .removeSetAsideTakesOne: try base.removeSetAside(Array(archives.prefix(1)))
    case .removeSetAsideLeavesGenerations:
      try base.removeSetAside(archives.filter { $0.reason?.isGeneration != true })
    case .goneSetAsideIsAnError:
      for archive in archives where try archive.storage.open() == nil {
        throw ArchiveError(.inputOutput)
      }
      try base.removeSetAside(archives)
    default: try base.removeSetAside(archives)
    }
  }
}

private struct FlawedFile: AppendableArchiveFile {
  let base: any AppendableArchiveFile
  let storage: MemoryStorage
  let snapshot: [UInt8]
  let isAppendable: Bool
  let flaw: StorageFlaw

  var byteCount: Int {
    flaw == .growingByteCount ? storage.bytes?.count ?? 0 : base.byteCount
  }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    switch flaw {
    case .openedChanges:
      let bytes = storage.bytes ?? []
      guard offset + count <= bytes.count else { break }
      return Array(bytes[offset..<offset + count])
    case .staleAppendable where isAppendable: return try base.read(at: 0, count: count)
    case .shortRead where offset > 0 && count > 0:
      return try base.read(at: offset, count: count - 1)
    case .paddedRead:
      let bytes = snapshot.dropFirst(offset).prefix(count)
      return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    default: break
    }
    return try base.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? {
    switch flaw {
    case .replacementUnnoticed: return storage.bytes?.count ?? 0
    case .sizeOfItsOwn: return try base.storedByteCount().map { _ in snapshot.count }
    default: return try base.storedByteCount()
    }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    if flaw == .appendIsLost { return }
    try base.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    if flaw == .truncateDoesNothing { return }
    try base.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) { try base.synchronize() }
}

/// A lock that keeps nobody out.
private final class FreeLock: ArchiveLock {
  func isHeld() throws(ArchiveError) -> Bool { true }
}
