import CatalogModel
import Foundation
import ProductCatalogKit
import RestorationDrafts
import RestorationKit
import XCTest

/// States that this program would not write, but another version of it might.
@MainActor final class StrangeStateTests: XCTestCase {
  private func restore(
    _ screens: [StrangeNode], in fixture: Fixture? = nil
  ) async throws -> Launches.Launch {
    let fixture = try fixture ?? Fixture()
    let launches = try Launches()
    let writer = try StateKeeper(
      application: Launches.application, directory: launches.store, keys: launches.keys)
    try writer.register(StrangeStack.self, as: "NavigationStack")
    try writer.register(StrangeList.self, as: "ProductListScreen")
    let restoration = { (_: RestorationPath, _: StateDecoder) -> StrangeNode? in nil }
    try writer.register(
      StrangeDetail.self, as: "DetailScreen", restoration: restoration)
    try writer.register(StrangeEdit.self, as: "EditScreen", restoration: restoration)
    try writer.register(StrangePage.self, as: "TabPage")
    try await launches.store([StrangeStack("navigation", children: screens)], by: writer)
    return try await launches.run(on: fixture.catalog)
  }

  private let list = StrangeList("list")

  private func id(_ row: UInt8) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, row))
  }

  func testRowsThatAreNotThereLeaveTheListAtItsBeginning() async throws {
    let list = StrangeList("list") {
      $0.encodeContainer(forKey: StateEncoder.stateKey) {
        $0.encode("", forKey: "query")
        $0.encode(false, forKey: "isSearching")
      }
    }
    list.selectedIndexPaths = [IndexPath(index: 200)]
    list.firstVisibleIndexPath = IndexPath(indexes: [1, Int.max])
    let launch = try await restore([list])
    XCTAssertEqual(launch.report?.problems, [])
    let restored = try XCTUnwrap(launch.navigation.root as? ProductListScreen)
    XCTAssertEqual(restored.selectedProductID, id(0))
    XCTAssertEqual(restored.scrollOffset, 0)
  }

  func testUnknownTabLeavesTheFirstAndScrollPositionsAreClamped() async throws {
    let offsets = [("info", -7), ("details", Int.max), ("reviews", 3)]
    let pages = offsets.map { tab, offset in
      StrangePage(tab) { $0.encode(offset, forKey: StateEncoder.stateKey) }
    }
    let detail = StrangeDetail("detail", children: pages) {
      $0.encode(self.id(1), forKey: "product")
    }
    detail.selectedTab = pages[2]
    let launch = try await restore([list, detail])
    let restored = try XCTUnwrap(launch.navigation.top as? DetailScreen)
    XCTAssertEqual(restored.tab, .info)
    XCTAssertEqual(restored.pages.map(\.scrollOffset), [0, .max, 0])
    XCTAssertTrue(launch.screen.contains("[Info]"))
    restored.select(.details)
    var canvas = Canvas(size: Size(columns: 60, rows: 6))
    restored.draw(into: &canvas)
    XCTAssertTrue(canvas.plainText.contains("Identifier"))
  }

  func testCursorIsClampedToTheText() async throws {
    for (cursor, clamped) in [(-1, 0), (2, 2), (Int.max, 3), (Int.min, 0)] {
      let launch = try await restore([list, StrangeDetail("detail", product: id(0)), edit(cursor)])
      let restored = try XCTUnwrap(launch.navigation.top as? EditScreen)
      XCTAssertEqual(restored.titleField.buffer, TextBuffer("abc", cursor: clamped))
      XCTAssertEqual(restored.descriptionField.buffer, TextBuffer("abc", cursor: clamped))
      XCTAssertEqual(restored.activeFieldIndex, 0)
    }
  }

  /// An earlier version stored the words without those that they were made from.
  func testAnEditWithoutABaseCountsAsMadeFromThePresentWords() async throws {
    let fixture = try Fixture()
    try fixture.saveElsewhere(ProductEdit(title: "Present", description: "Words."))
    let launch = try await restore(
      [list, StrangeDetail("detail", product: id(0)), edit(3)], in: fixture)
    XCTAssertEqual(launch.report?.problems, [])
    let restored = try XCTUnwrap(launch.navigation.top as? EditScreen)
    XCTAssertEqual(restored.words, ProductEdit(title: "abc", description: "abc"))
    XCTAssertEqual(restored.edit.draft.base?.title, "Present")
    XCTAssertTrue(restored.hasUnsavedChanges)
    XCTAssertFalse(launch.screen.contains("Changed meanwhile"), launch.screen)
    guard case .pop = restored.handle(.control("s"), size: Size(columns: 60, rows: 12)) else {
      return XCTFail("The words are not saved.")
    }
    XCTAssertEqual(try fixture.loadCatalog().product(id(0))?.title, "abc")
  }

  private func edit(_ cursor: Int) -> StrangeEdit {
    StrangeEdit("edit") {
      $0.encodeContainer(forKey: StateEncoder.stateKey) {
        $0.encode(self.id(0), forKey: "product")
        for field in ["title", "description"] {
          $0.encodeContainer(forKey: field) {
            $0.encode("abc", forKey: "text")
            $0.encode(cursor, forKey: "cursor")
          }
        }
        $0.encode(-1, forKey: "activeField")
        $0.encode(false, forKey: "asksToLeave")
      }
    }
  }

  func testAScreenThatCannotBeDecodedIsReportedAndStaysUsable() async throws {
    let page = StrangePage("info") { $0.encode("far", forKey: StateEncoder.stateKey) }
    let detail = StrangeDetail("detail", children: [page]) {
      $0.encode(self.id(2), forKey: "product")
    }
    let launch = try await restore([list, detail])
    XCTAssertEqual(
      launch.report?.problems.map(\.path.description), ["navigation/detail/info"])
    XCTAssertEqual(launch.navigation.top.title, "Gamma")
  }
}

@MainActor private class StrangeNode: @MainActor RestorableNode {
  let restorationIdentifier: String?
  let restorationChildren: [any RestorableNode]
  private let encode: (StateEncoder) throws -> Void

  init(
    _ identifier: String, children: [StrangeNode] = [],
    encode: @escaping (StateEncoder) throws -> Void = { _ in }
  ) {
    restorationIdentifier = identifier
    restorationChildren = children
    self.encode = encode
  }

  func encodeRestorableState(with coder: StateEncoder) throws {
    try encode(coder)
  }
}

private final class StrangeStack: StrangeNode {}
private final class StrangePage: StrangeNode {}
private final class StrangeList: StrangeNode, @MainActor RestorableList {
  var selectedIndexPaths: [IndexPath] = []
  var firstVisibleIndexPath: IndexPath?

  func hasElement(at indexPath: IndexPath) -> Bool { false }
}
private final class StrangeEdit: StrangeNode {}
private final class StrangeDetail: StrangeNode, @MainActor RestorableTabs {
  var selectedTab: (any RestorableNode)?

  convenience init(_ identifier: String, product: UUID) {
    self.init(identifier) { $0.encode(product, forKey: "product") }
  }
}
