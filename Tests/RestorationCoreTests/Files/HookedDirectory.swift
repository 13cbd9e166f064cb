import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization

/// States in memory, each call of which a test hears first and may let fail.
final class HookedDirectory: StateDirectory {
  enum Call: Hashable, Sendable, CaseIterable {
    case open, openForAppending, lock, names
    /// The new bytes are written, and not in their place.
    case replace
    /// The new bytes are in their place, and not for good.
    case publish
    case write, truncate, synchronize, remove

    var isChange: Bool { ![.open, .openForAppending, .lock, .names].contains(self) }
  }

  typealias Hook = @Sendable (_ name: String, _ call: Call) throws(ArchiveError) -> Void

  let base: MemoryStateDirectory
  private let hook = Mutex<Hook?>(nil)

  init(_ base: MemoryStateDirectory = MemoryStateDirectory()) { self.base = base }

  /// Hears calls until it is replaced.
  func hear(_ hook: Hook?) { self.hook.withLock { $0 = hook } }

  func call(_ name: String, _ call: Call) throws(ArchiveError) {
    try hook.withLock { $0 }?(name, call)
  }

  func storage(named name: String) -> any ArchiveStorage {
    HookedStorage(directory: self, name: name, base: base.memory(named: name))
  }

  func names() throws(ArchiveError) -> [String] {
    try call("", .names)
    return try base.names()
  }

  /// The same bytes without the locks of processes that have ended.
  func afterKill() throws -> HookedDirectory {
    let copy = MemoryStateDirectory()
    for name in try base.names() { copy.memory(named: name).bytes = base.memory(named: name).bytes }
    return HookedDirectory(copy)
  }
}

private struct HookedStorage: ArchiveStorage {
  let directory: HookedDirectory
  let name: String
  let base: MemoryStorage

  var location: String { name }

  func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try directory.call(name, .open)
    return try base.open()
  }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try directory.call(name, .openForAppending)
    guard let file = try base.openForAppending() else { return nil }
    return HookedFile(directory: directory, name: name, base: file)
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try base.replace { sink throws(ArchiveError) in
      try body(sink)
      try directory.call(name, .replace)
    }
    do throws(ArchiveError) {
      try directory.call(name, .publish)
    } catch {
      throw ArchiveError(.notDurable)
    }
  }

  func lock() throws(ArchiveError) -> any ArchiveLock {
    try directory.call(name, .lock)
    return try base.lock()
  }

  func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }

  func remove() throws(ArchiveError) {
    try directory.call(name, .remove)
    try base.remove()
  }
}

private struct HookedFile: AppendableArchiveFile {
  let directory: HookedDirectory
  let name: String
  let base: any AppendableArchiveFile

  var byteCount: Int { base.byteCount }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try base.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? { try base.storedByteCount() }

  /// A write that fails leaves half of the bytes behind.
  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    do throws(ArchiveError) {
      try directory.call(name, .write)
    } catch {
      try base.write(Array(bytes.prefix(bytes.count / 2)), at: offset)
      throw error
    }
    try base.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    try directory.call(name, .truncate)
    try base.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) {
    try directory.call(name, .synchronize)
    try base.synchronize()
  }
}
