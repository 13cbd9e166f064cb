import CatalogModel
import Foundation
import ProductCatalogKit
import XCTest

@MainActor final class CatalogTests: XCTestCase {
  func testBundledProductsLoad() async throws {
    let file = try XCTUnwrap(ProductFile.bundled)
    let catalog = try Catalog(products: file, edits: Fixture().edits)
    XCTAssertGreaterThanOrEqual(catalog.count, 110)
    for product in catalog.products {
      XCTAssertFalse(product.title.isEmpty)
      XCTAssertFalse(product.version.isEmpty)
      XCTAssertGreaterThan(product.downloadBytes, 0)
      XCTAssertEqual(catalog.product(product.id), product)
    }
  }

  func testSavedEditIsThereAfterLoadingAgain() async throws {
    let fixture = try Fixture()
    let edit = ProductEdit(title: "日本", description: "Line\nline")
    try fixture.catalog.save(edit, of: fixture.firstID)
    let loaded = try fixture.loadCatalog()
    XCTAssertEqual(loaded.product(fixture.firstID)?.words, edit)
    XCTAssertEqual(loaded.original(fixture.firstID)?.title, "Alpha")
    XCTAssertTrue(loaded.isEdited(fixture.firstID))
  }

  func testEditsThatAnotherProcessHasSavedStay() async throws {
    let fixture = try Fixture()
    let other = try fixture.loadCatalog()
    let ids = fixture.catalog.products.prefix(2).map(\.id)
    try other.save(ProductEdit(title: "Theirs", description: ""), of: ids[1])
    try fixture.catalog.save(ProductEdit(title: "Ours", description: ""), of: ids[0])
    for catalog in [fixture.catalog, try fixture.loadCatalog()] {
      XCTAssertEqual(ids.map { catalog.product($0)?.title }, ["Ours", "Theirs"])
    }
  }

  func testEditBackToTheOriginalIsDropped() async throws {
    let fixture = try Fixture()
    let original = try XCTUnwrap(fixture.catalog.original(fixture.firstID))
    try fixture.catalog.save(ProductEdit(title: "X", description: ""), of: fixture.firstID)
    try fixture.catalog.save(original.words, of: fixture.firstID)
    XCTAssertFalse(try fixture.loadCatalog().isEdited(fixture.firstID))
  }

  func testUnreadableEditsAreAnErrorAndStay() async throws {
    let fixture = try Fixture()
    let location = fixture.edits.location
    try FileManager.default.createDirectory(
      at: fixture.edits.directory, withIntermediateDirectories: true)
    for text in ["", "{", #"{"edits":{"x":{"title":"","description":""}}}"#] {
      try Data(text.utf8).write(to: location)
      XCTAssertThrowsError(try fixture.loadCatalog()) {
        XCTAssertEqual($0 as? CatalogError, .editsMalformed(path: location.path))
      }
      XCTAssertEqual(try Data(contentsOf: location), Data(text.utf8))
    }
  }

  func testMissingAndEmptyProductFilesAreErrors() async throws {
    let fixture = try Fixture()
    let file = ProductFile(fixture.directory.appending(path: "none.json"))
    XCTAssertThrowsError(try Catalog(products: file, edits: fixture.edits)) {
      XCTAssertEqual($0 as? CatalogError, .productsUnreadable(path: file.location.path))
    }
    try Data(#"{"source":"","products":[]}"#.utf8).write(to: file.location)
    XCTAssertThrowsError(try Catalog(products: file, edits: fixture.edits)) {
      XCTAssertEqual($0 as? CatalogError, .productsEmpty(path: file.location.path))
    }
  }

  func testSavingAnUnknownProductIsAnError() async throws {
    let fixture = try Fixture()
    let id = UUID()
    XCTAssertThrowsError(
      try fixture.catalog.save(ProductEdit(title: "X", description: ""), of: id)
    ) { XCTAssertEqual($0 as? CatalogError, .productUnknown(id)) }
  }
}
