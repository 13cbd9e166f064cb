import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Records are read in parts, and what is found out for one element is used for others.
@MainActor
final class ManyRecordsTests: XCTestCase {
  private let launch = Launch()

  /// Nodes of two classes with views, presented nodes and references, in which no part
  /// of the records is like another one.
  private func tree(_ objects: [TestObject], value: (Int) -> String?) -> TestNode {
    var number = 0
    func make(_ identifier: String, _ children: [any RestorableNode] = []) -> TestNode {
      number += 1
      let node =
        number.isMultiple(of: 700)
        ? SpecialTestNode(identifier, value: value(number), children: children)
        : TestNode(identifier, value: value(number), children: children)
      if number.isMultiple(of: 300) {
        node.restorationViews = [TestView("view", value: value(-number))]
      }
      if number.isMultiple(of: 450) {
        let object = objects[number / 450 % objects.count]
        node.onEncode = { $0.encode(object, forKey: "object") }
        node.onDecode = { XCTAssertIdentical(try $0.decodeObject(forKey: "object"), object) }
      }
      return node
    }
    let root = make("root")
    root.restorationChildren = (0..<60).map { group in
      let node = make("group \(group)", (0..<40).map { make("node \($0)") })
      if group.isMultiple(of: 7) { node.restorationPresented = make("presented") }
      return node
    }
    return root
  }

  private func keeper(_ objects: [TestObject]) throws -> StateKeeper {
    let keeper = try launch.keeper()
    for (number, object) in objects.enumerated() {
      keeper.registerObject(object, restorationIdentifier: "object \(number)")
    }
    return keeper
  }

  private func values(of node: TestNode) -> [String?] {
    let views = node.restorationViews.compactMap { ($0 as? TestView)?.value }
    let below = node.restorationChildren + [node.restorationPresented].compactMap(\.self)
    return [node.value] + views + below.compactMap { $0 as? TestNode }.flatMap { values(of: $0) }
  }

  func testATreeOfManyRecordsComesBackWhole() async throws {
    let objects = (0..<3).map { TestObject("\($0)") }
    let saved = tree(objects) { "value \($0)" }
    let report = try await keeper(objects).save([saved])
    XCTAssertEqual(report.problems.map(\.description), [])
    XCTAssertGreaterThan(report.savedPaths.count, 2_400)

    let back = tree(objects) { _ in nil }
    let keeper = try keeper(objects)
    let restored = try await keeper.restore(into: [back])
    XCTAssertEqual(restored.problems.map(\.description), [])
    XCTAssertEqual(
      Set(restored.entries.map(\.path.description)).subtracting([""]), Set(report.savedPaths))
    XCTAssertEqual(values(of: back), values(of: saved))
    // It knows of each record what is stored, and writes that of the application alone.
    let again = try await keeper.save([back])
    XCTAssertLessThan(again.writtenByteCount, 300)
  }

  func testElementsOfOneFormComeBackAsDifferentClasses() async throws {
    let names = ["a", "b", "c", "d"]
    _ = try await launch.keeper().save([TestNode("root", children: names.map { TestNode($0) })])
    let back: [any RestorableNode] = [
      TestNode("a"), UnrelatedNode("b"), SpecialTestNode("c"), TestNode("d"),
    ]
    let report = try await launch.keeper().restore(into: [TestNode("root", children: back)])
    XCTAssertEqual(
      names.map { report.outcome(of: "root/\($0)") },
      [
        .restored(by: .existing), .classMismatch(by: .existing, found: "UnrelatedNode"),
        .restored(by: .existing), .restored(by: .existing),
      ])
  }

  func testWhatAHookRegistersCountsForTheElementsAfterIt() async throws {
    func node(_ identifier: String, _ maker: any RestorationClass.Type) -> TestNode {
      let node = TestNode(identifier)
      node.restorationClass = maker
      return node
    }
    let children = [
      node("a", LateFactory.self), node("b", TestFactory.self), node("c", LateFactory.self),
    ]
    _ = try await launch.keeper().save([TestNode("root", children: children)])

    let keeper = try launch.keeper()
    TestFactory.make = { path, _ in
      try keeper.register(restorationClass: LateFactory.self)
      return TestNode(path.identifier)
    }
    defer { TestFactory.make = { _, _ in nil } }
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(
      ["a", "b", "c"].map { report.outcome(of: "root/\($0)") },
      [
        .unknownRestorationClass("LateFactory"), .restored(by: .restorationClass),
        .restored(by: .restorationClass),
      ])
  }
}

/// A restoration class that is registered during a restore.
@MainActor
private enum LateFactory: @MainActor RestorationClass {
  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? { TestNode(path.identifier) }
}
