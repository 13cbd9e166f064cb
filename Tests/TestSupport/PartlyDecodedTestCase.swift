import ArchiveCodec
import Foundation
package import RestorationKit
public import XCTest

/// Launches of an app whose states do not fit what is stored.
@MainActor
open class PartlyDecodedTestCase: XCTestCase {
  package var launch = Launch()

  open override func setUp() async throws {
    launch = Launch()
  }

  /// Saves nodes in a launch of their own.
  package func save(_ nodes: [any RestorableNode]) async throws {
    let keeper = try launch.keeper()
    try register(nodes, with: keeper)
    let report = try await keeper.save(nodes)
    XCTAssertEqual(report.problems, [])
    await keeper.close()
  }

  /// Restores nodes in a launch of their own, which goes on.
  package func restore(
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
package class Noted<State: Codable>: @MainActor StatefulNode {
  package let restorationIdentifier: String? = "note"
  package var restorableState: State

  package init(_ state: State) { restorableState = state }
}

/// A node whose state comes back as it was stored or not at all.
@MainActor
package final class AllOrNothing<State: Codable>: @MainActor StatefulNode {
  package static var restoresStateInParts: Bool { false }

  package let restorationIdentifier: String? = "note"
  package var restorableState: State

  package init(_ state: State) { restorableState = state }
}

package struct TitleAndCount: Codable, Equatable {
  package var title: String
  package var count: Int

  package init(title: String, count: Int) {
    self.title = title
    self.count = count
  }
}

/// A later form of it.
package struct TitleAndWord: Codable, Equatable {
  package var title: String
  package var count: String

  package init(title: String, count: String) {
    self.title = title
    self.count = count
  }
}
