import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What becomes of a value with a time in another version of the app.
@MainActor
final class ExpiringValueVersionTests: ExpiringValueTestCase {
  private func keeper(
    version: Int, _ migrations: [StateMigration] = []
  ) throws -> StateKeeper {
    let next = try launch.keeper()
    try next.register(SensitiveNode.self, version: version, migrations: migrations)
    keeper = next
    return next
  }

  func testAMigrationThatRenamesAValueMakesItNoYounger() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 30)
    let rename = StateMigration(from: 1) { state in
      XCTAssertEqual(state.keys, ["value"])
      try state.rename("value", to: "name")
    }
    let node = SensitiveNode("node")
    var name: String?
    node.decode = { name = try $0.decodeIfPresent(forKey: "name") }
    node.encode = { $0.encode(name, forKey: "name", sensitivity: .expiring(after: .seconds(60))) }
    let report = try await keeper(version: 2, [rename]).restore(into: [node])
    XCTAssertEqual(report.notes, [.migrated(from: 1)])
    XCTAssertEqual(name, "v")
    try await save(node)
    XCTAssertTrue(try isStored())
    go(to: 60)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

  func testAMigrationThatEncodesAValueAnewUnderItsKeyMakesItNoYounger() async throws {
    let old = SensitiveNode("node", value: "v") { coder in
      coder.encodeContainer(forKey: "in") {
        $0.encode(1, forKey: "n", sensitivity: .expiring(after: .seconds(60)))
      }
    }
    try await save(old)
    go(to: 30)
    let change = StateMigration(from: 1) { state in
      try state.encode("w", forKey: "value")
      try state.changeContainer(forKey: "in") { try $0.encode(2, forKey: "n") }
    }
    let node = SensitiveNode("node") { coder in
      coder.encodeContainer(forKey: "in") {
        $0.encode(2, forKey: "n", sensitivity: .expiring(after: .seconds(60)))
      }
    }
    _ = try await keeper(version: 2, [change]).restore(into: [node])
    XCTAssertEqual(node.value, "w")
    go(to: 60)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

  func testAMigrationSeesNoValueWhoseTimeIsOver() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 60)
    var keys: [String]?
    let look = StateMigration(from: 1) { keys = $0.keys }
    let next = try keeper(version: 2, [look])
    let report = try await next.restore(into: [SensitiveNode("node")])
    XCTAssertEqual(keys, [])
    XCTAssertEqual(report.notes, [.migrated(from: 1), .expiredValues(["value"])])
  }

  func testAStateThatCannotBeReadKeepsItsValues() async throws {
    let first = try keeper(version: 2, [StateMigration(from: 1) { _ in }])
    _ = try await first.save([SensitiveNode("node", value: "v")])
    let older = try keeper(version: 1)
    let node = SensitiveNode("node")
    _ = try await older.restore(into: [node])
    XCTAssertNil(node.found)
    _ = try await older.save([node])
    go(to: 59)
    let newer = SensitiveNode("node")
    _ = try await keeper(version: 2, [StateMigration(from: 1) { _ in }]).restore(into: [newer])
    XCTAssertEqual(newer.found, there("v"))
  }
}
