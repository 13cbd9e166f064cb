import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What a keeper does with files that it cannot use; each test saves a real one
/// first.
@MainActor
final class UnusableStateTests: XCTestCase {
  private static let application = "org.example.test"

  private func keeper(
    _ directory: TemporaryDirectory, key: String = "state.key",
    application: String = application, name: String = "main"
  ) throws -> StateKeeper {
    try StateKeeper(
      application: application, name: name,
      store: FileStateStore(directory: directory.child("state")),
      keys: FileKeyProvider(path: directory.child("keys/\(key)")))
  }

  /// A directory with a small saved state.
  private func saved() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    _ = try await keeper(directory).save([TestNode("a", value: "saved")])
    return directory
  }

  private let file = "state/main.rka"

  private func restoreError(_ keeper: StateKeeper, _ message: String = "") async -> ArchiveError? {
    let node = TestNode("a", value: "untouched")
    do {
      _ = try await keeper.restore(into: [node])
      XCTFail("did not throw \(message)")
      return nil
    } catch {
      XCTAssertEqual(node.value, "untouched", message)
      XCTAssertEqual(error.code, .archive, message)
      let archive = error.archive
      let isKept = archive?.code != .notAFile && archive?.code != .permissionDenied
      XCTAssertEqual(
        error.description,
        (archive?.description ?? "")
          + (isKept
            ? " Until then the app starts afresh; its next save keeps what is stored under another"
              + " name." : ""),
        message)
      return archive
    }
  }

  private func saveError(_ keeper: StateKeeper) async -> ArchiveError? {
    do {
      _ = try await keeper.save([TestNode("a", value: "new")])
      XCTFail("did not throw")
      return nil
    } catch {
      return error.archive
    }
  }

  func testARealSavedFileComesBack() async throws {
    let directory = try await saved()
    let node = TestNode("a")
    let report = try await keeper(directory).restore(into: [node])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(node.value, "saved")
    XCTAssertEqual(try directory.names(), ["keys", "state"])
  }

  func testEverySingleBitFlipOfASavedFileIsRefusedAndTheFileStays() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        try directory.write(changed, to: file)
        let error = await restoreError(try keeper(directory), "byte \(position) bit \(bit)")
        XCTAssertNotNil(error)
        XCTAssertEqual(try directory.bytes(of: file), changed)
      }
    }
  }

  func testEveryTruncationOfASavedFileIsRefusedAndTheFileStays() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    for count in bytes.indices {
      try directory.write(Array(bytes[..<count]), to: file)
      let error = await restoreError(try keeper(directory), "\(count) bytes")
      XCTAssertEqual(error?.code, .truncated)
      XCTAssertEqual(try directory.bytes(of: file).count, count)
    }
  }

  func testEveryCauseHasAnErrorOfItsOwn() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    func code(_ change: (inout [UInt8]) -> Void) async throws -> ArchiveError.Code? {
      var changed = bytes
      change(&changed)
      try directory.write(changed, to: file)
      return await restoreError(try keeper(directory))?.code
    }
    _ = try await keeper(directory, key: "other.key", name: "other").save([])
    let wrongKey = await restoreError(try keeper(directory, key: "other.key"))
    XCTAssertEqual(wrongKey?.code, .wrongKey)
    let noKey = await restoreError(try keeper(directory, key: "none.key"))
    XCTAssertEqual(noKey?.code, .keyMissing)
    let otherApplication = await restoreError(
      try keeper(directory, application: "org.example.other"))
    XCTAssertEqual(otherApplication?.code, .wrongContext)
    let damaged = try await code { $0[$0.count - 100] ^= 1 }
    XCTAssertEqual(damaged, .damaged)
    let truncated = try await code { $0.removeLast(10) }
    XCTAssertEqual(truncated, .truncated)
    let newer = try await code { $0[8] = 2 }
    XCTAssertEqual(newer, .unsupportedVersion)
    let text = try await code { $0 = Array("{\"state\": 1}".utf8) }
    XCTAssertEqual(text, .notAnArchive)
    let empty = try await code { $0 = [] }
    XCTAssertEqual(empty, .truncated)
  }

  func testAStateOfAnotherNameDoesNotOpenInItsPlace() async throws {
    let directory = try await saved()
    try directory.write(try directory.bytes(of: file), to: "state/other.rka")
    let error = await restoreError(try keeper(directory, name: "other"))
    XCTAssertEqual(error?.code, .wrongContext)
  }

  func testADirectoryOrAFIFOInPlaceOfTheFileIsRefusedAndStays() async throws {
    for make in [{ mkdir($0, 0o700) }, { mkfifo($0, 0o600) }] as [(String) -> Int32] {
      let directory = try await saved()
      try FileManager.default.removeItem(atPath: directory.child(file))
      XCTAssertEqual(make(directory.child(file)), 0)
      let restored = await restoreError(try keeper(directory))
      XCTAssertEqual(restored?.code, .notAFile)
      let saved = await saveError(try keeper(directory))
      XCTAssertEqual(saved?.code, .notAFile)
      XCTAssertEqual(
        try FileManager.default.contentsOfDirectory(atPath: directory.child("state")), ["main.rka"])
    }
  }

  func testWithoutPermissionNothingIsLost() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    for path in [directory.path, directory.child("state"), directory.child("keys")] {
      chmod(path, 0o755)
    }
    if OrdinaryUser.isNeeded {
      // Or it would be the key that is refused.
      let key = directory.child("keys/state.key")
      XCTAssertEqual(chown(key, OrdinaryUser.identifier, OrdinaryUser.identifier), 0)
    }
    chmod(directory.child(file), 0)
    chmod(directory.child("state"), 0o555)
    let user = OrdinaryUser()
    let restored = await restoreError(try keeper(directory))
    let saved = await saveError(try keeper(directory))
    _ = consume user
    chmod(directory.child("state"), 0o755)
    chmod(directory.child(file), 0o600)
    XCTAssertEqual(restored?.code, .permissionDenied)
    XCTAssertEqual(saved?.code, .permissionDenied)
    XCTAssertEqual(try directory.bytes(of: file), bytes)
  }

  func testAFullDiskIsReportedAndTheOldStateStays() async throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.child("state"), 0o700)
    let disk = try SmallDisk(over: directory.child("state"))
    let keeper = try keeper(directory)
    _ = try await keeper.save([TestNode("a", value: "old")])
    do {
      _ = try await keeper.save([TestNode("a", value: String(repeating: "x", count: 100_000))])
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error.archive?.code, .storageFull)
    }
    let node = TestNode("a")
    await keeper.close()
    _ = try await self.keeper(directory).restore(into: [node])
    XCTAssertEqual(node.value, "old")
    _ = try await keeper.save([TestNode("a", value: "small again")])
    await keeper.close()
    _ = try await self.keeper(directory).restore(into: [node])
    XCTAssertEqual(node.value, "small again")
    _ = consume disk
  }

  func testASaveKeepsAStateThatItCannotOpenUnderAnotherName() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    // In the commit's header, which opening checks, and in a chunk, which it
    // does not.
    for position in [300, 400] {
      var damaged = bytes
      damaged[position] ^= 1
      try directory.write(damaged, to: file)
      let keeper = try keeper(directory)
      let error = await restoreError(keeper)
      XCTAssertEqual(error?.code, .damaged)
      let first = try await keeper.save([TestNode("a", value: "new")])
      XCTAssertEqual(try kept(first), damaged)
      let second = try await keeper.save([TestNode("a", value: "newer")])
      XCTAssertNil(second.setAside)
      await keeper.close()
      let node = TestNode("a")
      _ = try await self.keeper(directory).restore(into: [node])
      XCTAssertEqual(node.value, "newer")
    }
  }

  private func kept(_ report: PreservationReport) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: try XCTUnwrap(report.setAside))))
  }

  func testAStateThatSomebodyPutThereIsKept() async throws {
    let directory = try await saved()
    let keeper = try keeper(directory)
    _ = try await keeper.restore(into: [TestNode("a")])
    let old = try directory.bytes(of: file)
    _ = try await keeper.save([TestNode("a")])
    // An older one, as from a backup, and one of a newer version of the library.
    var newer = try directory.bytes(of: file)
    newer[8] = 2
    for bytes in [old, newer] {
      try directory.write(bytes, to: file)
      let report = try await keeper.save([TestNode("a")])
      XCTAssertEqual(try kept(report), bytes)
      let next = try await keeper.save([TestNode("a")])
      XCTAssertNil(next.setAside)
    }
  }

  func testASaveThatIsDeclinedKeepsWhatItCannotRead() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    let delegate = TestDelegate()
    delegate.saves = false
    for key in ["none.key", "other.key"] {
      if key == "other.key" {
        _ = try await keeper(directory, key: key, name: "other").save([])
        try directory.write(bytes, to: file)
      }
      let keeper = try keeper(directory, key: key)
      keeper.delegate = delegate
      let report = try await keeper.save([])
      XCTAssertEqual(report.outcome, .declined)
      XCTAssertEqual(try kept(report), bytes)
    }
  }

  func testWhatWasSetAsideIsReportedByTheFirstSaveThatSucceeds() async throws {
    struct Store: StateStore {
      let storage = FaultyStorage([1, 2, 3]) { call, number in
        call == .replace && number == 1 ? ArchiveError(.storageFull) : nil
      }
      func storage(named name: String) -> any ArchiveStorage { storage }
    }
    let keeper = try StateKeeper(
      application: Self.application, store: Store(), keys: MemoryKeyProvider())
    let error = await saveError(keeper)
    XCTAssertEqual(error?.code, .storageFull)
    let report = try await keeper.save([TestNode("a")])
    XCTAssertEqual(report.setAside, "faulty")
  }

  func testAStateWhoseKeyIsGoneIsKeptToo() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    let report = try await keeper(directory, key: "new.key").save([TestNode("a")])
    XCTAssertEqual(try kept(report), bytes)
  }

  func testADamagedKeyFileStopsASaveAndNothingIsReplaced() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    var key = try directory.bytes(of: "keys/state.key")
    key[20] ^= 1
    try directory.write(key, to: "keys/state.key")
    chmod(directory.child("keys/state.key"), 0o600)
    let error = await saveError(try keeper(directory))
    XCTAssertEqual(error?.code, .keyDamaged)
    XCTAssertEqual(try directory.bytes(of: file), bytes)
    XCTAssertEqual(try directory.bytes(of: "keys/state.key"), key)
  }

  func testANameThatIsNoFileNameIsRefused() {
    for name in ["", "a/b", ".", "..", ".hidden", "a\u{0}b", String(repeating: "x", count: 201)] {
      XCTAssertThrowsError(try StateKeeper(application: name)) {
        XCTAssertEqual(($0 as? RestorationError)?.code, .invalidName)
      }
      XCTAssertThrowsError(try StateKeeper(application: "org.example", name: name)) {
        XCTAssertEqual(($0 as? RestorationError)?.code, .invalidName)
      }
    }
  }
}
