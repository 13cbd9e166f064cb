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
      directory: FileStateDirectory(path: directory.child("state")),
      keys: KeyFile(path: directory.child("keys/\(key)")))
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
      guard let archive = error.archive else {
        XCTFail("\(error) \(message)")
        return nil
      }
      let isSetAside = archive.code != .notAFile && archive.code != .permissionDenied
      XCTAssertEqual(
        WholeError(error), isSetAside ? WholeError(notRestored: archive) : WholeError(archive),
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
    for position in LongTests.some(of: bytes.indices) {
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
    // A file without bytes is no state: a power cut leaves one.
    for count in bytes.indices.dropFirst() {
      try directory.write(Array(bytes[..<count]), to: file)
      let error = await restoreError(try keeper(directory), "\(count) bytes")
      XCTAssertEqual(
        error, ArchiveError(.truncated, offset: count, location: directory.child(file)))
      XCTAssertEqual(try directory.bytes(of: file).count, count)
    }
  }

  func testEveryCauseHasAnErrorOfItsOwn() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    func error(_ change: (inout [UInt8]) -> Void) async throws -> ArchiveError? {
      var changed = bytes
      change(&changed)
      try directory.write(changed, to: file)
      return await restoreError(try keeper(directory))
    }
    let location = directory.child(file)
    _ = try await keeper(directory, key: "other.key", name: "other").save([])
    let wrongKey = await restoreError(try keeper(directory, key: "other.key"))
    XCTAssertEqual(wrongKey, ArchiveError(.wrongKey, location: location))
    let noKey = await restoreError(try keeper(directory, key: "none.key"))
    XCTAssertEqual(noKey, ArchiveError(.keyMissing, location: directory.child("keys/none.key")))
    let otherApplication = await restoreError(
      try keeper(directory, application: "org.example.other"))
    XCTAssertEqual(otherApplication, ArchiveError(.wrongContext, location: location))
    let damaged = try await error { $0[$0.count - 100] ^= 1 }
    XCTAssertEqual(
      damaged, ArchiveError(.damaged, offset: 320, subject: "chunk 0", location: location))
    let truncated = try await error { $0.removeLast(10) }
    XCTAssertEqual(
      truncated, ArchiveError(.truncated, offset: bytes.count - 10, location: location))
    let newer = try await error { $0[8] = 2 }
    XCTAssertEqual(
      newer,
      ArchiveError(.unsupportedVersion, offset: 8, subject: "version 2", location: location))
    let text = try await error { $0 = Array("{\"state\": 1}".utf8) }
    XCTAssertEqual(text, ArchiveError(.notAnArchive, offset: 0, location: location))
  }

  func testTheErrorOfARestoreGivesOneAdviceThatFitsAnAppAndAWindow() async throws {
    let directory = try await saved()
    func description(key: String = "state.key") async throws -> String? {
      await restorationError {
        _ = try await keeper(directory, key: key).restore(into: [TestNode("a")])
      }?.description
    }
    let key = directory.child("keys/none.key")
    let withoutKey = try await description(key: "none.key")
    XCTAssertEqual(
      withoutKey,
      "The key that opens this archive is not there (keyMissing: in \(key)). End the app and put"
        + " the key back; else the next save makes a new key and sets aside what is stored.")
    try directory.write(Array(try directory.bytes(of: file).prefix(1)), to: file)
    let cut = try await description()
    XCTAssertEqual(
      cut,
      "The archive ends too early (truncated: byte 1, in \(directory.child(file)))."
        + " Let the app go on; its next save sets aside what is stored.")
  }

  func testAStateOfAnotherNameDoesNotOpenInItsPlace() async throws {
    let directory = try await saved()
    try directory.write(try directory.bytes(of: file), to: "state/other.rka")
    let error = await restoreError(try keeper(directory, name: "other"))
    XCTAssertEqual(
      error, ArchiveError(.wrongContext, location: directory.child("state/other.rka")))
  }

  func testADirectoryOrAFIFOInPlaceOfTheFileIsRefusedAndStays() async throws {
    // Only a directory is in the way of the system too, when a save would replace it.
    let makers: [((String) -> Int32, Int32?)] = [
      ({ mkdir($0, 0o700) }, EISDIR), ({ mkfifo($0, 0o600) }, nil),
    ]
    for (make, systemError) in makers {
      let directory = try await saved()
      try FileManager.default.removeItem(atPath: directory.child(file))
      XCTAssertEqual(make(directory.child(file)), 0)
      let restored = await restoreError(try keeper(directory))
      XCTAssertEqual(
        restored,
        ArchiveError(.notAFile, systemError: systemError, location: directory.child(file)))
      let saved = await saveError(try keeper(directory))
      XCTAssertEqual(
        saved,
        ArchiveError(.notAFile, location: directory.child(file)))
      XCTAssertEqual(
        try FileManager.default.contentsOfDirectory(atPath: directory.child("state")),
        ["main.rka"])
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
    XCTAssertEqual(
      restored,
      ArchiveError(
        .permissionDenied, systemError: EACCES,
        location: directory.child(file)))
    XCTAssertEqual(
      saved,
      ArchiveError(
        .permissionDenied, systemError: EACCES, location: directory.child("state/.main.rka.lock")))
    XCTAssertEqual(try directory.bytes(of: file), bytes)
  }

  func testAFullDiskIsReportedAndTheOldStateStays() async throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.child("state"), 0o700)
    let disk = try SmallDisk(over: directory.child("state"))
    let keeper = try keeper(directory)
    _ = try await keeper.save([TestNode("a", value: "old")])
    await assertThrows(
      WholeError(ArchiveError(.storageFull, systemError: ENOSPC, location: directory.child(file)))
    ) {
      _ = try await keeper.save([TestNode("a", value: String(repeating: "x", count: 100_000))])
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

  func testASaveSetsAsideAStateThatItCannotOpen() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    // In the commit's header, which opening checks, and in a chunk, which it
    // does not.
    for (position, offset, part) in [(300, 288, "commit"), (400, 320, "chunk 0")] {
      var damaged = bytes
      damaged[position] ^= 1
      try directory.write(damaged, to: file)
      let keeper = try keeper(directory)
      let error = await restoreError(keeper)
      XCTAssertEqual(
        error,
        ArchiveError(.damaged, offset: offset, subject: part, location: directory.child(file)))
      let first = try await keeper.save([TestNode("a", value: "new")])
      XCTAssertEqual(try kept(first, directory), damaged)
      let second = try await keeper.save([TestNode("a", value: "newer")])
      XCTAssertNil(second.setAside)
      await keeper.close()
      let node = TestNode("a")
      _ = try await self.keeper(directory).restore(into: [node])
      XCTAssertEqual(node.value, "newer")
    }
  }

  private func kept(_ report: PreservationReport, _ directory: TemporaryDirectory) throws -> [UInt8]
  {
    try directory.bytes(of: "state/main.history/\(XCTUnwrap(report.setAside))")
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
      XCTAssertEqual(try kept(report, directory), bytes)
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
      XCTAssertEqual(try kept(report, directory), bytes)
    }
  }

  func testWhatWasSetAsideIsReportedByTheFirstSaveThatSucceeds() async throws {
    struct Store: StateDirectory {
      let others = MemoryStateDirectory()
      let storage = FaultyStorage([1, 2, 3]) { call, number in
        call == .replace && number == 1 ? ArchiveError(.storageFull) : nil
      }
      func storage(named name: String) -> any ArchiveStorage {
        name == "main" ? storage : others.storage(named: name)
      }
      func names() throws(ArchiveError) -> [String] { try others.names() }
    }
    let store = Store()
    let keeper = try StateKeeper(
      application: Self.application, directory: store, keys: MemoryKeyProvider())
    let error = await saveError(keeper)
    XCTAssertEqual(error, ArchiveError(.storageFull, location: "faulty"))
    let report = try await keeper.save([TestNode("a")])
    let setAside = try XCTUnwrap(report.setAside)
    XCTAssertEqual(store.others.memory(named: "main.history-\(setAside)").bytes, [1, 2, 3])
  }

  func testAStateWhoseKeyIsGoneIsKeptToo() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    let report = try await keeper(directory, key: "new.key").save([TestNode("a")])
    XCTAssertEqual(try kept(report, directory), bytes)
  }

  func testADamagedKeyFileStopsASaveAndNothingIsReplaced() async throws {
    let directory = try await saved()
    let bytes = try directory.bytes(of: file)
    var key = try directory.bytes(of: "keys/state.key")
    key[20] ^= 1
    try directory.write(key, to: "keys/state.key")
    chmod(directory.child("keys/state.key"), 0o600)
    let error = await saveError(try keeper(directory))
    XCTAssertEqual(
      error, ArchiveError(.keyDamaged, location: directory.child("keys/state.key")))
    XCTAssertEqual(try directory.bytes(of: file), bytes)
    XCTAssertEqual(try directory.bytes(of: "keys/state.key"), key)
  }

  func testANameMayHaveSpacesAndBeAsLongAsItMay() throws {
    for name in ["a b", " ", "Ä", String(repeating: "x", count: 150)] {
      XCTAssertNoThrow(try StateKeeper(application: name, name: name))
    }
  }

  func testANameThatIsNoFileNameIsRefused() async {
    func reason(_ name: String) -> String {
      "“\(name)” cannot name a state. Use up to 150 bytes without “/”, not beginning with “.”."
    }
    for name in ["", "a/b", ".", "..", ".hidden", "a\u{0}b", String(repeating: "x", count: 201)] {
      await assertThrows(WholeError(.invalidName, reason(name))) {
        _ = try StateKeeper(application: name)
      }
      await assertThrows(WholeError(.invalidName, reason(name))) {
        _ = try StateKeeper(application: "org.example", name: name)
      }
    }
  }
}
