import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What the tests of crashes in nodes share.
@MainActor
class NodeGuardTestCase: XCTestCase {
  let launch = Launch()

  struct Screens {
    let root, group, bad, good: TestNode

    @MainActor init(_ value: String? = nil) {
      bad = TestNode("bad", value: value)
      group = TestNode("group", value: value, children: [bad])
      good = TestNode("good", value: value)
      root = TestNode("root", value: value, children: [group, good])
    }

    @MainActor var values: [String?] { [root, group, bad, good].map(\.value) }
  }

  func save() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    _ = try await keeper.save([Screens("saved").root])
  }

  /// A launch that crashes in the decoding of a node.
  @discardableResult
  func crash(in node: KeyPath<Screens, TestNode>) async throws -> RestorationReport {
    let screens = Screens()
    return try await launch.crash(decoding: screens[keyPath: node], in: screens.root)
  }
}
