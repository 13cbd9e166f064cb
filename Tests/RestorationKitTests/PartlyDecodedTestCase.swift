import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Launches of an app whose states do not fit what is stored.
@MainActor
class PartlyDecodedTestCase: XCTestCase {
  var launch = Launch()

  override func setUp() async throws {
    launch = Launch()
  }

  /// Saves nodes in a launch of their own.
  func save(_ nodes: [any RestorableNode]) async throws {
    let keeper = try launch.keeper()
    try register(nodes, with: keeper)
    let report = try await keeper.save(nodes)
    XCTAssertEqual(report.problems, [])
    await keeper.close()
  }

  /// Restores nodes in a launch of their own, which goes on.
  func restore(
    _ nodes: [any RestorableNode]
  ) async throws -> (keeper: StateKeeper, report: RestorationReport) {
    let keeper = try launch.keeper()
    try register(nodes, with: keeper)
    return (keeper, try await keeper.restore(into: nodes))
  }

  /// All forms of a state are those of one class.
  private func register(_ nodes: [any RestorableNode], with keeper: StateKeeper) throws {
    for node in nodes where node is any StatefulNode {
      try keeper.register(type(of: node), as: "Note")
    }
  }
}

/// A node of any state.
@MainActor
class Noted<State: Codable>: @MainActor StatefulNode {
  let restorationIdentifier: String? = "note"
  var restorableState: State

  init(_ state: State) { restorableState = state }
}

/// A node whose state comes back as it was stored or not at all.
@MainActor
final class AllOrNothing<State: Codable>: @MainActor StatefulNode {
  static var restoresStateInParts: Bool { false }

  let restorationIdentifier: String? = "note"
  var restorableState: State

  init(_ state: State) { restorableState = state }
}

struct TitleAndCount: Codable, Equatable {
  var title: String
  var count: Int
}

/// A later form of it.
struct TitleAndWord: Codable, Equatable {
  var title: String
  var count: String
}
