import ArchiveCodec
import ArchiveForge
import Foundation
import Synchronization
import TestSupport
import XCTest

final class KeyFileTests: XCTestCase {
  /// An archive that only this key opens, to tell keys apart.
  private func opens(_ key: ArchiveKey?, _ storage: MemoryStorage) throws -> Bool {
    guard let key else { return false }
    return (try? Archive.open(storage, key: key, context: ArchiveContext([]))) != nil
  }

  private func archive(_ key: ArchiveKey) throws -> MemoryStorage {
    let storage = MemoryStorage()
    _ = try Archive.write(
      try RecordBuilder().finish(), to: storage, key: key, context: ArchiveContext([]))
    return storage
  }

  func testAKeyIsMadeOnceForItsOwnerAndReadAgain() throws {
    let directory = try TemporaryDirectory()
    let file = KeyFile(path: directory.child("keys/state.key"))
    XCTAssertNil(try file.load())
    let storage = try archive(try file.loadOrCreate())
    XCTAssertTrue(try opens(try file.load(), storage))
    XCTAssertTrue(try opens(try file.loadOrCreate(), storage))
    var status = stat()
    XCTAssertEqual(lstat(file.path, &status), 0)
    XCTAssertEqual(status.st_mode & 0o7777, 0o600)
    XCTAssertEqual(
      try FileManager.default.contentsOfDirectory(atPath: directory.child("keys")), ["state.key"])
  }

  func testAKeyFileIsWhatTheSpecificationSays() throws {
    let key = [UInt8](1...32)
    let magic: [UInt8] = [0x89, 0x52, 0x4B, 0x4B, 0x0D, 0x0A, 0x1A, 0x0A]
    let checksum = Derivation.derive("RKA1 checksum", key: key, magic)[..<8]
    let directory = try TemporaryDirectory()
    let file = KeyFile(path: directory.child("state.key"))
    try directory.write(magic + key + checksum, to: "state.key")
    let storage = try archive(try .known(key))
    for mode in [0o600, 0o400, 0o700] as [mode_t] {
      XCTAssertEqual(chmod(file.path, mode), 0)
      XCTAssertTrue(try opens(try file.load(), storage), "\(mode)")
    }
    for mode in [0o640, 0o602, 0o610] as [mode_t] {
      XCTAssertEqual(chmod(file.path, mode), 0)
      XCTAssertEqual(archiveError { _ = try file.load() }?.code, .keyExposed, "\(mode)")
    }
  }

  func testASecondNameThatAKilledMakerLeftIsRemoved() throws {
    let directory = try TemporaryDirectory()
    let file = KeyFile(path: directory.child("state.key"))
    _ = try file.loadOrCreate()
    XCTAssertEqual(link(file.path, directory.child(".state.key.abc.tmp")), 0)
    XCTAssertNotNil(try file.load())
    XCTAssertEqual(try directory.names(), ["state.key"])
  }

  func testAKeyIsGivenOutOnlyOnceItsNameIsOnStableStorage() throws {
    let directory = try TemporaryDirectory()
    let file = KeyFile(path: directory.child("state.key"))
    let syncs = Mutex<(count: Int, fails: Bool)>((0, true))
    let watched = Directory(directory.path) { _ in
      syncs.withLock {
        $0.count += 1
        errno = EIO
        return $0.fails ? -1 : 0
      }
    }
    for count in 1...3 {
      let error = archiveError { _ = try file.loadOrCreate(in: watched) }
      XCTAssertEqual(error?.code, .notDurable)
      XCTAssertEqual(error?.systemError, EIO)
      XCTAssertEqual(syncs.withLock { $0.count }, count)
    }
    XCTAssertEqual(archiveError { _ = try file.load(in: watched) }?.code, .notDurable)
    // What is said to last is not synced again.
    syncs.withLock { $0 = (0, false) }
    let storage = try archive(try file.loadOrCreate(in: watched))
    for _ in 0..<2 { XCTAssertTrue(try opens(try file.loadOrCreate(in: watched), storage)) }
    XCTAssertEqual(syncs.withLock { $0.count }, 1)
    XCTAssertEqual(try directory.names(), ["state.key"])
  }

  func testAllWhoMakeAKeyAtTheSameTimeGetTheSameOne() throws {
    for _ in 0..<20 {
      let directory = try TemporaryDirectory()
      let path = directory.child("state.key")
      let keys = Mutex<[ArchiveKey]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        guard let key = try? KeyFile(path: path).loadOrCreate() else { return }
        keys.withLock { $0.append(key) }
      }
      let made = keys.withLock { $0 }
      XCTAssertEqual(made.count, 8)
      let storage = try archive(try XCTUnwrap(made.first))
      for key in made { XCTAssertTrue(try opens(key, storage)) }
      XCTAssertEqual(try directory.names(), ["state.key"])
    }
  }

  func testEveryBitFlipAndEveryOtherLengthIsRefusedAndTheFileStays() throws {
    let directory = try TemporaryDirectory()
    let file = KeyFile(path: directory.child("state.key"))
    _ = try file.loadOrCreate()
    let bytes = try directory.bytes(of: "state.key")
    func refused(_ changed: [UInt8], _ message: String) throws {
      let handle = try FileHandle(forWritingTo: URL(filePath: file.path))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: changed)
      try handle.close()
      XCTAssertEqual(archiveError { _ = try file.load() }?.code, .keyDamaged, message)
      XCTAssertEqual(
        archiveError { _ = try file.loadOrCreate() }?.code, .keyDamaged, message)
      XCTAssertEqual(try directory.bytes(of: "state.key"), changed)
    }
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        try refused(changed, "byte \(position) bit \(bit)")
      }
      try refused(Array(bytes[..<position]), "\(position) bytes")
    }
    try refused(bytes + [0], "a byte more")
  }

  func testAKeyThatOthersMayReadIsRefused() throws {
    let directory = try TemporaryDirectory()
    let file = KeyFile(path: directory.child("state.key"))
    _ = try file.loadOrCreate()
    for mode in [0o640, 0o604, 0o620, 0o601] as [mode_t] {
      chmod(file.path, mode)
      XCTAssertEqual(archiveError { _ = try file.load() }?.code, .keyExposed)
    }
    chmod(file.path, 0o400)
    XCTAssertNotNil(try file.load())
  }

  func testAnythingButAFileIsRefused() throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.child("directory"), 0o700)
    mkfifo(directory.child("fifo"), 0o600)
    _ = try KeyFile(path: directory.child("key")).loadOrCreate()
    symlink(directory.child("key"), directory.child("link"))
    for name in ["directory", "fifo", "link"] {
      let file = KeyFile(path: directory.child(name))
      XCTAssertEqual(archiveError { _ = try file.load() }?.code, .notAFile, name)
      XCTAssertEqual(archiveError { _ = try file.loadOrCreate() }?.code, .notAFile, name)
    }
  }

  func testAKeyIsTakenFromMemoryThatIsWipedThen() throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: (0..<32).map { UInt8($0) })
    let storage = try archive(try ArchiveKey(moving: memory))
    XCTAssertTrue(memory.allSatisfy { $0 == 0 })
    memory.copyBytes(from: (0..<32).map { UInt8($0) })
    XCTAssertTrue(try opens(try ArchiveKey(moving: memory), storage))
    for count in [0, 31, 33] {
      let wrong = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
      defer { wrong.deallocate() }
      wrong.initializeMemory(as: UInt8.self, repeating: 1)
      XCTAssertEqual(archiveError { _ = try ArchiveKey(moving: wrong) }, ArchiveError(.keyDamaged))
      XCTAssertTrue(wrong.allSatisfy { $0 == 0 })
    }
  }

  func testAKeyShowsNothingOfItself() throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0xAB)
    let key = try ArchiveKey(moving: memory)
    var dumped = ""
    dump(key, to: &dumped)
    for text in [dumped, "\(key)", String(reflecting: key)] {
      XCTAssertFalse(text.lowercased().contains("ab, ab"), text)
      XCTAssertFalse(text.contains("171"), text)
    }
  }
}
