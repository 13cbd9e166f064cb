import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization

/// A way in which a storage breaks a promise.
enum StorageFlaw: String, CaseIterable, Sendable {
  case emptyIsAFile, noLocation, shortRead, paddedRead
  case lostBytes, oldBytesStay, tornOnError, errorIsSwallowed, errorIsAnother, seenBeforeTheEnd
  case openedChanges
  case appendIsLost, staleAppendable, growingByteCount, truncateDoesNothing, replacementUnnoticed
  case sizeOfItsOwn
  case lockIsShared, lockRaces, lockStays, lockStores, replaceTakesTheLock
  case removeDoesNothing
}

/// A storage in memory with a flaw.
final class FlawedStorage: ArchiveStorage {
  private let base = MemoryStorage()
  private let flaw: StorageFlaw
  private let locks = Mutex<[any ArchiveLock]>([])
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
    if flaw == .replaceTakesTheLock { locks.withLock { $0 = [] } }
    if flaw == .seenBeforeTheEnd { base.bytes = [1] }
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
      locks.withLock { $0.append(lock) }
      return lock
    case .replaceTakesTheLock:
      let lock = try base.lock()
      locks.withLock { $0 = [lock] }
      return FreeLock()
    default: break
    }
    return try base.lock()
  }

  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }

  func remove() throws(ArchiveError) {
    if flaw == .removeDoesNothing { return }
    try base.remove()
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
