import CatalogModel
import Foundation
import ProductCatalogKit
import XCTest

@MainActor final class ProductListTests: XCTestCase {
  private let size = Size(columns: 40, rows: 5)

  private func list(_ count: Int) throws -> ProductListScreen {
    let fixture = try Fixture(names: (1...count).map { "Product \($0)" })
    return ProductListScreen(catalog: fixture.catalog)
  }

  private func selectedTitle(_ list: ProductListScreen) -> String? {
    list.products.first { $0.id == list.selectedProductID }?.title
  }

  func testSelectionStopsAtBothEnds() async throws {
    let list = try list(3)
    _ = list.handle(.up, size: size)
    XCTAssertEqual(selectedTitle(list), "Product 1")
    for _ in 0..<9 { _ = list.handle(.down, size: size) }
    XCTAssertEqual(selectedTitle(list), "Product 3")
    XCTAssertEqual(list.scrollOffset, 0)
  }

  func testListScrollsOnlyAsFarAsItMust() async throws {
    let list = try list(20)
    for _ in 0..<5 { _ = list.handle(.down, size: size) }
    XCTAssertEqual(list.scrollOffset, 1)
    for _ in 0..<4 { _ = list.handle(.up, size: size) }
    XCTAssertEqual(list.scrollOffset, 1)
    _ = list.handle(.end, size: size)
    XCTAssertEqual(list.scrollOffset, 15)
    _ = list.handle(.pageUp, size: size)
    XCTAssertEqual(selectedTitle(list), "Product 15")
    _ = list.handle(.home, size: size)
    XCTAssertEqual(list.scrollOffset, 0)
  }

  func testSelectingAnUnknownProductSelectsTheFirst() async throws {
    let list = try list(3)
    _ = list.handle(.end, size: size)
    list.select(UUID())
    XCTAssertEqual(selectedTitle(list), "Product 1")
  }

  func testScrollingBeyondTheListIsClamped() async throws {
    let list = try list(20)
    list.scroll(to: 1000)
    XCTAssertEqual(list.scrollOffset, 19)
    list.scroll(to: -3)
    XCTAssertEqual(list.scrollOffset, 0)
  }

  func testSearchKeepsASelectionThatMatches() async throws {
    let list = try list(20)
    for _ in 0..<11 { _ = list.handle(.down, size: size) }
    list.search(for: "12", isTyping: false)
    XCTAssertEqual(list.products.map(\.title), ["Product 12"])
    XCTAssertEqual(selectedTitle(list), "Product 12")
    _ = list.handle(.escape, size: size)
    XCTAssertEqual(list.products.count, 20)
    XCTAssertEqual(selectedTitle(list), "Product 12")
  }

  func testSearchWithoutMatchSelectsNothing() async throws {
    let list = try list(3)
    list.search(for: "zebra", isTyping: true)
    XCTAssertNil(list.selectedProductID)
    _ = list.handle(.down, size: size)
    _ = list.handle(.enter, size: size)
    guard case .stay = list.handle(.right, size: size) else { return XCTFail("opened nothing") }
  }

  func testWindowAlwaysShowsTheRowAndOnlyRowsThatExist() {
    for count in 0...12 {
      for rows in 1...8 {
        let window = ListWindow(count: count, rows: rows)
        for wanted in -2...14 {
          for row in 0..<count {
            let visible = window.visible(from: window.offset(nearest: wanted, showing: row))
            XCTAssertTrue(visible.contains(row))
            XCTAssertEqual(visible.count, min(rows, count))
          }
        }
      }
    }
  }
}
