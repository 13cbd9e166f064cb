import ArchiveCodec
package import RestorationKit
public import XCTest

/// What the tests of saves of changes share.
@MainActor
open class ChangeTestCase: XCTestCase {
  package let launch = Launch()
  /// Whether the disk of ``failingKeeper()`` is full.
  package let fails = Flag()

  /// A tree of tracked nodes under a tracked root, saved once.
  package func savedTree(
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
  package func failingKeeper() throws -> StateKeeper {
    let fails = fails
    let store = HookedStore(launch.store) { name, made throws(ArchiveError) in
      if fails.isSet, name == "main", made.isWrite { throw ArchiveError(.storageFull) }
    }
    return try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
  }

  /// Saves while the disk is full.
  package func assertFails(_ keeper: StateKeeper, _ root: any RestorableNode, line: UInt = #line)
    async
  {
    fails.isSet = true
    await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory")), line: line) {
      _ = try await keeper.save([root])
    }
    fails.isSet = false
  }

  /// Makes nodes until one lies at an address.
  package func node(at address: ObjectIdentifier, _ make: () -> PlainNode) throws -> PlainNode {
    var others: [PlainNode] = []
    while others.count < 10_000 {
      let node = make()
      if ObjectIdentifier(node) == address { return node }
      others.append(node)
    }
    throw XCTSkip("No object came to the address.")
  }

  package func value(of path: String) throws -> String? {
    try launch.storedRecords()?[path]?.value
  }

  /// What is stored is what a new keeper stores that asks everything.
  package func assertStoredAsAWhole(
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

  package func generation() throws -> UInt64? { try launch.archive()?.version.generation }
}
