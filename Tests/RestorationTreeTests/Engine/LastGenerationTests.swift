import ArchiveCodec
import ArchiveForge
import RestorationKit
import TestSupport
import XCTest

/// States that no other one can follow: they are restored, and the next save sets them aside.
@MainActor
final class LastGenerationTests: XCTestCase {
  private let launch = Launch()

  private func save(_ value: String, with keeper: StateKeeper) async throws -> PreservationReport {
    try await keeper.save([TestNode("a", value: value)])
  }

  /// Stores what is stored again, as another writer would have.
  private func store(
    replacing: ArchiveVersion?, random: RandomSource = .system
  ) throws -> [UInt8] {
    let archive = try XCTUnwrap(launch.archive())
    let builder = RecordBuilder()
    for record in try archive.readAll() {
      let content = try record.content.get()
      try builder.append(record: record.identifier) { try $0.copyAll(from: content) }
    }
    let storage = MemoryStorage()
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    _ = try Archive.write(
      builder.finish(), to: storage, slots: [.key(key)],
      context: ArchiveContext([Launch.application, "main"]), replacing: replacing,
      schema: archive.schema, random: random, moment: .now)
    let bytes = try XCTUnwrap(storage.bytes)
    launch.storedBytes = bytes
    return bytes
  }

  /// Restores what is stored, saves, and restores again.
  private func assertIsRestoredAndSetAside(_ bytes: [UInt8]) async throws {
    launch.storedBytes = bytes
    let keeper = try launch.keeper()
    let root = TestNode("a")
    let restored = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "saved")
    XCTAssertEqual(restored.problems, [])
    let next = try await save("next", with: keeper)
    XCTAssertEqual(next.outcome, .saved)
    XCTAssertEqual(next.setAside, launch.asideLocation)
    XCTAssertEqual(launch.setAside, [bytes])
    let last = try await save("last", with: keeper)
    XCTAssertNil(last.setAside)
    let back = TestNode("a")
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.value, "last")
  }

  func testTheLastGenerationIsRestoredAndTheNextSaveSetsItAside() async throws {
    _ = try await save("saved", with: try launch.keeper())
    let bytes = try store(
      replacing: ArchiveVersion(generation: .max - 1, mac: [UInt8](repeating: 7, count: 32)))
    XCTAssertEqual(try launch.archive()?.version.generation, .max)
    try await assertIsRestoredAndSetAside(bytes)
  }

  func testTheGenerationBeforeTheLastTakesOneMoreChange() async throws {
    _ = try await save("saved", with: try launch.keeper())
    _ = try store(
      replacing: ArchiveVersion(generation: .max - 2, mac: [UInt8](repeating: 7, count: 32)))
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [TestNode("a")])
    for value in ["one", "two", "three"] {
      let report = try await save(value, with: keeper)
      XCTAssertEqual(report.outcome, .saved, value)
      XCTAssertEqual(report.setAside, value == "one" ? launch.asideLocation : nil, value)
      XCTAssertEqual(try launch.storedRecords()?["a"]?.value, value)
    }
  }

  func testAStateThatOnlyANewerVersionMayChangeIsRestoredAndTheNextSaveSetsItAside() async throws {
    _ = try await save("saved", with: try launch.keeper())
    let stuck = RandomSource { bytes, count in
      bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
    }
    let bytes = try store(replacing: nil, random: stuck).replacing(16..<20, with: [1, 0, 0, 0])
      .withFittingMAC(
        dataKey: [UInt8](repeating: 7, count: 32), context: [Launch.application, "main"])
    launch.storedBytes = bytes
    XCTAssertEqual(try launch.archive()?.isWritable, false)
    try await assertIsRestoredAndSetAside(bytes)
  }
}
