import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What the tests of saves of changes share.
@MainActor
class ChangeTestCase: XCTestCase {
  let launch = Launch()
  /// Whether the disk of ``failingKeeper()`` is full.
  let fails = Flag()

  /// A tree of tracked nodes under a tracked root, saved once.
  func savedTree(
    _ count: Int = 3, with keeper: StateKeeper
  ) async throws -> (root: TrackedNode, nodes: [TrackedNode]) {
    let root = TrackedNode("root")
    let nodes = (0..<count).map { TrackedNode("n\($0)") }
    for (place, node) in nodes.enumerated() { node.value = "\(place)" }
    root.below = nodes
    _ = try await keeper.save([root])
    return (root, nodes)
  }

  /// A keeper whose disk is full while `fails` is set.
  func failingKeeper() throws -> StateKeeper {
    let fails = fails
    let store = HookedStore(launch.store) { name, made throws(ArchiveError) in
      if fails.isSet, name == "main", made.isWrite { throw ArchiveError(.storageFull) }
    }
    return try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
  }

  /// Saves while the disk is full.
  func assertFails(_ keeper: StateKeeper, _ root: any RestorableNode, line: UInt = #line) async {
    fails.isSet = true
    await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory")), line: line) {
      _ = try await keeper.save([root])
    }
    fails.isSet = false
  }

  /// Makes nodes until one lies at an address.
  func node(at address: ObjectIdentifier, _ make: () -> PlainNode) throws -> PlainNode {
    var others: [PlainNode] = []
    while others.count < 10_000 {
      let node = make()
      if ObjectIdentifier(node) == address { return node }
      others.append(node)
    }
    throw XCTSkip("No object came to the address.")
  }

  func value(of path: String) throws -> String? {
    try launch.storedRecords()?[path]?.value
  }

  /// What is stored is what a new keeper stores that asks everything.
  func assertStoredAsAWhole(
    _ roots: [any RestorableNode], delegate: TestDelegate? = nil,
    _ prepare: (StateKeeper) throws -> Void = { _ in }, line: UInt = #line
  ) async throws {
    let fresh = Launch()
    let whole = try fresh.keeper(delegate: delegate)
    try prepare(whole)
    _ = try await whole.save(roots)
    XCTAssertEqual(
      try launch.storedRecords()?.words, try fresh.storedRecords()?.words, line: line)
  }

  func generation() throws -> UInt64? { try launch.archive()?.version.generation }

  func restoredPaths() async throws -> [String] {
    try await launch.keeper().checkStoredState().entries.map(\.path.description)
  }
}
