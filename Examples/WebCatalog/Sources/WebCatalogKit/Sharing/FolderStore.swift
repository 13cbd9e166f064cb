import Crypto
import Dispatch
import Foundation
package import RestorationSharing

/// A store of states in a folder, for servers of one machine.
///
/// It shows what a store of your own has to do: four methods, and a version that changes with
/// each write. A file lock makes comparing and storing one step; a write goes to a file of its
/// own, which is synced and renamed, so that a kill leaves the old bytes or the new ones.
package final class FolderStore: RemoteStateStore {
  private let folder: URL
  private let queue = DispatchQueue(label: "FolderStore")

  package init(_ path: String) throws {
    folder = URL(filePath: path, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  package var location: String { folder.path }

  package func load(_ name: String) async throws -> RemoteState? {
    try await locked { try self.state(name) }
  }

  package func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await locked {
      guard try self.state(name)?.version == version else { return nil }
      let new = UUID()
      try self.write(Data("\(new)\n\(name)\n".utf8) + bytes, to: self.file(name))
      return RemoteVersion(new.uuidString)
    }
  }

  package func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await locked {
      guard try self.state(name)?.version == version else { return false }
      try FileManager.default.removeItem(at: self.file(name))
      try self.sync(self.folder, O_RDONLY | O_DIRECTORY)
      return true
    }
  }

  package func names(prefix: String) async throws -> [String] {
    try await locked {
      try FileManager.default.contentsOfDirectory(atPath: self.folder.path)
        .filter { $0.hasSuffix(Self.ending) }
        .map { try self.name(in: self.folder.appending(path: $0)) }
        .filter { $0.utf8.starts(with: prefix.utf8) }
    }
  }

  private static let ending = ".state"
  /// A version is a UUID, and a name has 255 bytes at most.
  private static let longestHead = 512

  /// A name may be too long for a file, or lead out of the folder; its hash does not.
  private func file(_ name: String) -> URL {
    let hash = Hex.text(SHA256.hash(data: Data(name.utf8)))
    return folder.appending(path: hash + Self.ending, directoryHint: .notDirectory)
  }

  private func state(_ name: String) throws -> RemoteState? {
    let file = file(name)
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return try read(file)
  }

  private func read(_ file: URL) throws -> RemoteState {
    let parts = try parts(of: Data(contentsOf: file), in: file)
    let version = RemoteVersion(String(decoding: parts[0], as: UTF8.self))
    return RemoteState(bytes: Array(parts[2]), version: version)
  }

  /// Reads a name, and not the state, which may be large.
  private func name(in file: URL) throws -> String {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    let head = try handle.read(upToCount: Self.longestHead) ?? Data()
    return String(decoding: try parts(of: head, in: file)[1], as: UTF8.self)
  }

  /// A file is a line with the version, a line with the name, and the bytes.
  private func parts(of bytes: Data, in file: URL) throws -> [Data] {
    let parts = bytes.split(
      separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw RemoteStoreError(.damaged, "\(file.path) is no state.")
    }
    return parts
  }

  private func write(_ data: Data, to file: URL) throws {
    let new = file.appendingPathExtension("new")
    guard
      FileManager.default.createFile(
        atPath: new.path, contents: data, attributes: [.posixPermissions: 0o600])
    else { throw RemoteStoreError(.full, "\(new.path) cannot be written.") }
    try sync(new, O_RDONLY)
    guard rename(new.path, file.path) == 0 else { throw problem("rename \(new.path)") }
    try sync(folder, O_RDONLY | O_DIRECTORY)
  }

  private func sync(_ file: URL, _ flags: Int32) throws {
    let descriptor = open(file.path, flags)
    guard descriptor >= 0 else { throw problem("open \(file.path)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw problem("sync \(file.path)") }
  }

  /// Runs on a thread that may wait, while no other process has the folder.
  private func locked<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { waiting in
      queue.async {
        waiting.resume(with: Result { try self.withLock(body) })
      }
    }
  }

  private func withLock<Value>(_ body: () throws -> Value) throws -> Value {
    let lock = folder.appending(path: "lock").path
    let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw problem("open \(lock)") }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX) == 0 else { throw problem("lock \(lock)") }
    return try body()
  }

  private func problem(_ attempt: String) -> RemoteStoreError {
    RemoteStoreError(.unavailable, "Could not \(attempt): \(String(cString: strerror(errno))).")
  }
}
