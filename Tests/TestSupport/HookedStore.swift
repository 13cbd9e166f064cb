package import ArchiveCodec
import Foundation
package import RestorationKit
import Synchronization

/// A store that asks before it does anything; what throws does not happen.
package struct HookedStore: StateDirectory {
  package enum Call: Hashable, Sendable {
    case open, lock, replace, append, remove
    case read, size, truncate, synchronize, list
    /// The new content is there when it throws, but not for good.
    case publish
    /// Something of an archive is read that was opened, for the first time.
    case readFirst

    package var isChange: Bool { isWrite || self == .remove }

    /// Whether a state is written, as a whole or what changed of it.
    package var isWrite: Bool { self == .replace || self == .append }
  }

  package typealias Hook = @Sendable (_ name: String, _ call: Call) throws(ArchiveError) -> Void

  private let store: any StateDirectory
  private let hook: Hook

  /// - Parameters:
  ///   - store: What is stored; empty if nil.
  ///   - hook: Asked on the thread of the call.
  package init(_ store: (any StateDirectory)? = nil, before hook: @escaping Hook) {
    self.store = store ?? MemoryStateDirectory()
    self.hook = hook
  }

  package func storage(named name: String) -> any ArchiveStorage {
    HookedStorage(storage: store.storage(named: name)) { call throws(ArchiveError) in
      try hook(name, call)
    }
  }

  package func names() throws(ArchiveError) -> [String] { try store.names() }
}

private struct HookedStorage: ArchiveStorage {
  let storage: any ArchiveStorage
  let before: @Sendable (HookedStore.Call) throws(ArchiveError) -> Void

  var location: String { storage.location }

  func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try before(.open)
    return try storage.open().map { HookedReader($0, before) }
  }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try before(.open)
    return try storage.openForAppending().map { HookedFile($0, before) }
  }

  func lock() throws(ArchiveError) -> any ArchiveLock {
    try before(.lock)
    return try storage.lock()
  }

  func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try before(.replace)
    try storage.replace(body)
    do {
      try before(.publish)
    } catch {
      throw ArchiveError(.notDurable)
    }
  }

  func remove() throws(ArchiveError) {
    try before(.remove)
    try storage.remove()
  }
}

private final class HookedReader: ArchiveFile {
  private let file: any ArchiveFile
  private let before: @Sendable (HookedStore.Call) throws(ArchiveError) -> Void
  private let isRead = Atomic(false)

  init(
    _ file: any ArchiveFile,
    _ before: @escaping @Sendable (HookedStore.Call) throws(ArchiveError) -> Void
  ) {
    self.file = file
    self.before = before
  }

  var byteCount: Int { file.byteCount }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    if !isRead.exchange(true, ordering: .relaxed) { try before(.readFirst) }
    return try file.read(at: offset, count: count)
  }
}

private final class HookedFile: AppendableArchiveFile {
  private let file: any AppendableArchiveFile
  private let before: @Sendable (HookedStore.Call) throws(ArchiveError) -> Void
  private let isRead = Atomic(false)

  init(
    _ file: any AppendableArchiveFile,
    _ before: @escaping @Sendable (HookedStore.Call) throws(ArchiveError) -> Void
  ) {
    self.file = file
    self.before = before
  }

  var byteCount: Int { file.byteCount }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    if !isRead.exchange(true, ordering: .relaxed) { try before(.readFirst) }
    try before(.read)
    return try file.read(at: offset, count: count)
  }

  func storedByteCount() throws(ArchiveError) -> Int? {
    try before(.size)
    return try file.storedByteCount()
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try before(.append)
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    try before(.truncate)
    try file.truncate(to: byteCount)
  }

  func synchronize() throws(ArchiveError) {
    try before(.synchronize)
    try file.synchronize()
  }
}
