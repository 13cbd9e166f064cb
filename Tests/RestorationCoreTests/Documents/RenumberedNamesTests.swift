import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// A state whose names get other numbers while an app has it.
@MainActor
final class RenumberedNamesTests: BodyTestCase {
  /// A node with one text under a key that the test chooses.
  @MainActor
  private final class Keyed: @MainActor RestorableNode {
    let name: String
    var key: String
    var text = "text"
    var restorationIdentifier: String? { name }

    init(_ name: String, _ key: String) { (self.name, self.key) = (name, key) }

    func encodeRestorableState(with coder: StateEncoder) { coder.encode(text, forKey: key) }
  }

  private func names() throws -> [String] {
    let archive = try XCTUnwrap(try launch.archive())
    let number = try XCTUnwrap(try archive.recordIdentifiers().first)
    return try XCTUnwrap(try archive.record(number)).unsealed.names
  }

  private func store(_ nodes: [Keyed]) async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.save(nodes)
    await keeper.close()
  }

  private func storedKeys(_ nodes: [Keyed]) throws -> [String] {
    let records = try XCTUnwrap(try launch.storedRecords())
    return nodes.map { node in
      records[node.name]?.state?.keys.first ?? ""
    }
  }

  /// Gives each node the key that has the number which its own one had before.
  private func shift(_ nodes: [Keyed], from before: [String]) throws {
    let after = try names()
    var count = 0
    for node in nodes {
      guard let number = before.firstIndex(of: node.key), after.indices ~= number,
        after[number].hasPrefix("k")
      else { continue }
      count += node.key == after[number] ? 0 : 1
      node.key = after[number]
    }
    XCTAssertGreaterThan(count, 2, "\(before) \(after)")
  }

  /// Marks the stored file as one that is to leave no trace.
  private func markDue() throws {
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let writer = try ArchiveWriter.open(
      launch.store.memory(named: "main"), key: key,
      context: ArchiveContext([Launch.application, "main"]))
    let builder = writer.builder()
    try builder.append(record: TreeRecord.compactionDue) { _ in }
    try writer.append(try builder.finish())
  }

  func testWhatIsSaidUnderAnotherNameIsStoredThoughItHasTheNumberOfTheNameOfBefore() async throws {
    let nodes = (0..<12).map { Keyed("n\($0)", "k\($0)") }
    try await store(nodes)
    try markDue()
    let directory = HookedDirectory(launch.store)
    directory.hear { name, call throws(ArchiveError) in
      if call == .replace, name == "main" { throw ArchiveError(.storageFull) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: launch.keys)
    _ = try await keeper.restore(into: nodes)
    directory.hear(nil)
    let before = try names()
    for node in nodes.dropFirst(6) { node.text = "edit" }
    _ = try await keeper.save(nodes)
    try shift(nodes, from: before)
    _ = try await keeper.save(nodes)
    XCTAssertEqual(try storedKeys(nodes), nodes.map(\.key))
    await keeper.close()
  }

  func testSoItIsWhereAnotherFileWasPutInThePlace() async throws {
    let nodes = (0..<12).map { Keyed("n\($0)", "dead\($0 % 4)") }
    try await store(nodes)
    let oldBytes = launch.storedBytes
    for (number, node) in nodes.enumerated() { node.key = "k\(number)" }
    let earlier = try launch.keeper()
    _ = try await earlier.restore(into: nodes)
    _ = try await earlier.save(nodes)
    await earlier.close()
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    _ = try await keeper.restore(into: nodes)
    let before = try names()
    launch.storedBytes = oldBytes
    nodes[0].text = "edit"
    _ = try await keeper.save(nodes)
    try shift(nodes, from: before)
    _ = try await keeper.save(nodes)
    XCTAssertEqual(try storedKeys(nodes), nodes.map(\.key))
    await keeper.close()
  }
}
