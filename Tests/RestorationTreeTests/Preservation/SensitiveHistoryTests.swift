import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Random histories of nodes whose values end and can be forgotten: a launch finds at any
/// time what the last save stored, and no older value.
@MainActor
final class SensitiveHistoryTests: XCTestCase {
  private static let duration: TimeInterval = 100

  /// A node, and what is to be found of it.
  private struct Model {
    var node: TrackedSensitiveNode
    var group: Int
    /// What saves have seen of its value, since when.
    var seen: (value: String, since: Date)?
    var stored: (value: String, since: Date)?
    var secret: String?
    var storedSecret: String?
    var storedGroup: Int
    /// Whether another object stands for it since the last save.
    var isReplaced = false

    init(node: TrackedSensitiveNode, group: Int) {
      (self.node, self.group, storedGroup) = (node, group, group)
    }

    @MainActor
    mutating func save(at now: Date) {
      // Nobody can tell that another object at another place is the same.
      if isReplaced, group != storedGroup { seen = nil }
      isReplaced = false
      if seen?.value != node.value { seen = node.value.map { ($0, now) } }
      stored = seen.flatMap { now < $0.since + duration ? $0 : nil }
      (storedSecret, storedGroup) = (secret, group)
    }
  }

  private let launch = Launch()
  private var random = SeededGenerator()
  private var models: [String: Model] = [:]
  private var groups: [TrackedSensitiveNode] = []
  private var root = TrackedSensitiveNode("root")
  private var keeper: StateKeeper?

  private func makeNode(_ name: String) -> TrackedSensitiveNode {
    let node = TrackedSensitiveNode(name, duration: Int(Self.duration))
    node.encode = { [unowned self] coder in
      coder.encode(models[name]?.secret, forKey: "secret", sensitivity: .secret)
    }
    node.decode = { [unowned self] in
      models[name]?.secret = try $0.decodeIfPresent(forKey: "secret")
    }
    return node
  }

  /// Puts all nodes in the groups that the model says, in order of their names.
  private func arrange() {
    for (number, group) in groups.enumerated() {
      group.restorationChildren = models.sorted { $0.key < $1.key }
        .filter { $0.value.group == number }.map(\.value.node)
      group.invalidateRestorableState()
    }
  }

  private func makeTree() {
    groups = (0..<2).map { TrackedSensitiveNode("g\($0)") }
    root = TrackedSensitiveNode("root")
    root.restorationChildren = groups
    for name in models.keys { models[name]?.node = makeNode(name) }
    arrange()
  }

  private func path(of name: String) -> RestorationPath {
    RestorationPath(["root", "g\(models[name]?.group ?? 0)", name])
  }

  private func relaunch(_ message: String) async throws {
    await keeper?.close()
    let next = try launch.keeper()
    keeper = next
    models = models.mapValues { model in
      var model = model
      (model.secret, model.group, model.isReplaced) = (nil, model.storedGroup, false)
      return model
    }
    makeTree()
    let report = try await next.restore(into: [root])
    for (name, model) in models {
      let expected = model.stored.flatMap { launch.now < $0.since + Self.duration ? $0 : nil }
      XCTAssertEqual(model.node.value, expected?.value, "\(name), \(message)")
      XCTAssertEqual(model.secret, model.storedSecret, "\(name), \(message)")
      models[name]?.seen = expected
    }
    XCTAssertEqual(report.problems, [], message)
  }

  private func step(_ message: String) async throws {
    guard let keeper, let name = models.keys.sorted().randomElement(using: &random),
      let node = models[name]?.node
    else { return }
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1:
      node.value = [nil, "a", "b"].randomElement(using: &random) ?? nil
      node.invalidateRestorableState()
    case 2:
      models[name]?.secret = [nil, "s", "t"].randomElement(using: &random) ?? nil
      node.invalidateRestorableState()
    case 3:
      models[name]?.group = Int.random(in: 0..<2, using: &random)
      arrange()
    case 4:
      // Another object takes the place of the node.
      let other = makeNode(name)
      other.value = node.value
      models[name]?.node = other
      models[name]?.isReplaced = true
      arrange()
    case 5:
      try await keeper.forgetSecrets(
        Bool.random(using: &random)
          ? .below(path(of: name)) : .value(forKey: "secret", at: path(of: name)))
      models[name]?.storedSecret = nil
      models[name]?.secret = nil
      node.invalidateRestorableState()
      // It forgets where it was at the last save.
      try await save(everything: false, message)
    case 6, 7: launch.now += Double.random(in: 0..<60, using: &random)
    case 8: try await save(everything: true, message)
    case 9: try await relaunch(message)
    default: try await save(everything: false, message)
    }
  }

  private func save(everything: Bool, _ message: String) async throws {
    guard let keeper else { return }
    let report =
      everything ? try await keeper.saveEverything([root]) : try await keeper.save([root])
    XCTAssertEqual(report.problems, [], message)
    for name in models.keys { models[name]?.save(at: launch.now) }
    let again = try await keeper.save([root])
    XCTAssertEqual(again.writtenByteCount, 0, message)
  }

  func testALaunchFindsWhatTheLastSaveStoredAndHasNotEndedOrBeenForgotten() async throws {
    for history in 0..<12 {
      for name in launch.store.memory(named: "main").bytes == nil ? [] : ["main", "main.secrets"] {
        launch.store.memory(named: name).bytes = nil
      }
      models = [:]
      for number in 0..<5 {
        let name = "n\(number)"
        models[name] = Model(node: makeNode(name), group: number % 2)
      }
      makeTree()
      keeper = try launch.keeper()
      for step in 0..<80 {
        try await self.step("seed \(random.seed), history \(history), step \(step)")
      }
      await keeper?.close()
    }
  }
}
