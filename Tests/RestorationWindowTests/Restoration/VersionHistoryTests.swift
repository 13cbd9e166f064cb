import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Random histories of an app that is updated, and of users who go back: at the end the
/// newest version finds all that no older one has changed.
@MainActor
final class VersionHistoryTests: XCTestCase {
  /// A node of one of the classes, with a state of some version.
  private class Screen: @MainActor RestorableNode {
    let restorationIdentifier: String?
    let version: Int
    var value: String?
    var restorationChildren: [any RestorableNode] = []
    var wasRead = false

    required init(_ identifier: String?, _ version: Int) {
      restorationIdentifier = identifier
      self.version = version
    }

    // Each version has another key, so that none can read another one by chance.
    func encodeRestorableState(with coder: StateEncoder) {
      coder.encode(value, forKey: "value \(version)")
    }

    func decodeRestorableState(with coder: StateDecoder) throws {
      value = try coder.decodeIfPresent(forKey: "value \(version)")
      restorationChildren = coder.restoredChildren
      wasRead = true
    }
  }

  private final class A: Screen {}
  private final class B: Screen {}
  private final class C: Screen {}
  private final class D: Screen {}
  private static let classes: [Screen.Type] = [A.self, B.self, C.self, D.self]

  /// What the versions of an app know.
  private struct App {
    /// Of each version the version of the state of each class; nil if it has no such class.
    let classes: [[Int?]]
    var newest: Int { classes.count - 1 }

    init(_ random: inout SeededGenerator) {
      var known: [[Int?]] = []
      var last: [Int] = [1, 1, 1, 1]
      for _ in 0..<3 {
        known.append(
          last.indices.map { index in
            last[index] += Int.random(in: 0..<2, using: &random)
            return Int.random(in: 0..<3, using: &random) == 0 ? nil : last[index]
          })
      }
      // The newest one has all that there ever was.
      known.append(last.map { $0 + 1 })
      classes = known
    }
  }

  private var launch = Launch()
  private var random = SeededGenerator()

  private func register(_ version: [Int?], in keeper: StateKeeper) throws {
    for (type, version) in zip(Self.classes, version) {
      guard let version else { continue }
      try keeper.register(
        type, version: version,
        migrations: migrations(to: version) { try $1.rename("value \($0)", to: "value \($0 + 1)") },
        restoration: { path, _ in type.init(path.identifier, version) })
    }
  }

  /// A launch that restores, changes something, and saves.
  private func run(
    _ version: [Int?], change: (PlainRoot) -> Void
  ) async throws -> PlainRoot {
    let root = PlainRoot("root")
    let keeper = try launch.keeper()
    try register(version, in: keeper)
    _ = try await keeper.restore(into: [root])
    change(root)
    _ = try await keeper.save([root])
    return root
  }

  /// A root that takes what is back.
  private final class PlainRoot: @MainActor RestorableNode {
    let restorationIdentifier: String?
    var restorationChildren: [any RestorableNode] = []
    init(_ identifier: String) { restorationIdentifier = identifier }
    func encodeRestorableState(with coder: StateEncoder) { coder.encode(0, forKey: "version") }
    func decodeRestorableState(with coder: StateDecoder) throws {
      restorationChildren = coder.restoredChildren
    }
  }

  private func screens(below root: PlainRoot) -> [(path: String, screen: Screen)] {
    var found: [(String, Screen)] = []
    var stack = root.restorationChildren.map { ("root", $0) }
    while let (path, node) = stack.popLast() {
      guard let screen = node as? Screen else { continue }
      let own = "\(path)/\(screen.restorationIdentifier ?? "")"
      found.append((own, screen))
      stack += screen.restorationChildren.map { (own, $0) }
    }
    return found
  }

  func testNothingIsLostThatNoOlderVersionHasChanged() async throws {
    for _ in 0..<10 {
      random = SeededGenerator(seed: random.next())
      try await assertHistory()
    }
  }

  private func assertHistory() async throws {
    let seed = random.seed
    let versions = App(&random)
    launch = Launch()
    var expected: [String: String] = [:]
    var count = 0
    var story: [String] = []

    /// Adds a node below the root or a screen, and says so.
    func add(_ version: [Int?], to root: PlainRoot) {
      let known = version.indices.filter { version[$0] != nil }
      guard let kind = known.randomElement(using: &random), let number = version[kind] else {
        return
      }
      count += 1
      let screen = Self.classes[kind].init("n\(count)", number)
      screen.value = "made \(count)"
      let parent = screens(below: root).randomElement(using: &random)
      if let parent, Bool.random(using: &random) {
        parent.screen.restorationChildren.append(screen)
        expected["\(parent.path)/n\(count)"] = screen.value
      } else {
        root.restorationChildren.append(screen)
        expected["root/n\(count)"] = screen.value
      }
      story.append("add n\(count) of class \(kind)")
    }

    for step in 0..<8 {
      launch.now += 24 * 60 * 60
      let number = step == 0 ? versions.newest : Int.random(in: 0...versions.newest, using: &random)
      let version = versions.classes[number]
      story.append("version \(number): \(version.map { $0.map(String.init) ?? "-" })")
      do {
        _ = try await run(version) { root in
          for _ in 0..<(step == 0 ? 12 : 2) { add(version, to: root) }
          guard step > 0 else { return }
          for (path, screen) in screens(below: root)
          where screen.wasRead && Int.random(in: 0..<4, using: &random) == 0 {
            screen.value = "changed in \(step)"
            expected[path] = screen.value
            story.append("change \(path)")
          }
        }
      } catch {
        return XCTFail("TEST_SEED=\(seed): \(error)\n\(story.joined(separator: "\n"))")
      }
    }
    var found: [String: String] = [:]
    let root = try await run(versions.classes[versions.newest]) { _ in }
    for (path, screen) in screens(below: root) { found[path] = screen.value }
    XCTAssertEqual(
      found, expected, "TEST_SEED=\(seed)\n\(story.joined(separator: "\n"))")
  }
}
