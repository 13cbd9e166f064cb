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
    try fixture.catalog.save(edit, of: fixture.firstID, over: fixture.firstWords)
    let loaded = try fixture.loadCatalog()
    XCTAssertEqual(loaded.product(fixture.firstID)?.words, edit)
    XCTAssertEqual(loaded.original(fixture.firstID)?.title, "Alpha")
    XCTAssertTrue(loaded.isEdited(fixture.firstID))
  }

  func testEditsThatAnotherProcessHasSavedStay() async throws {
    let fixture = try Fixture()
    let other = try fixture.loadCatalog()
    let ids = fixture.catalog.products.prefix(2).map(\.id)
    try other.save(
      ProductEdit(title: "Theirs", description: ""), of: ids[1], over: other.product(ids[1])?.words)
    try fixture.catalog.save(
      ProductEdit(title: "Ours", description: ""), of: ids[0], over: fixture.firstWords)
    for catalog in [fixture.catalog, try fixture.loadCatalog()] {
      XCTAssertEqual(ids.map { catalog.product($0)?.title }, ["Ours", "Theirs"])
    }
  }

  func testEditBackToTheOriginalIsDropped() async throws {
    let fixture = try Fixture()
    let original = try XCTUnwrap(fixture.catalog.original(fixture.firstID))
    let edit = ProductEdit(title: "X", description: "")
    try fixture.catalog.save(edit, of: fixture.firstID, over: original.words)
    try fixture.catalog.save(original.words, of: fixture.firstID, over: edit)
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
      try fixture.catalog.save(ProductEdit(title: "X", description: ""), of: id, over: nil)
    ) { XCTAssertEqual($0 as? CatalogError, .productUnknown(id)) }
  }

  private func words(_ title: String) -> ProductEdit {
    ProductEdit(title: title, description: "\(title).")
  }

  func testASaveOverOtherWordsThanThoseItIsMadeFromIsAnErrorAndWritesNothing() async throws {
    let fixture = try Fixture()
    let base = fixture.firstWords
    let slow = try fixture.loadCatalog()
    try fixture.catalog.save(words("Theirs"), of: fixture.firstID, over: base)
    let stored = try Data(contentsOf: fixture.edits.location)
    for over in [base, nil, words("Others")] {
      XCTAssertThrowsError(try slow.save(words("Mine"), of: fixture.firstID, over: over)) {
        XCTAssertEqual($0 as? CatalogError, .wordsChanged(words("Theirs")))
      }
      XCTAssertEqual(try Data(contentsOf: fixture.edits.location), stored)
    }
    // It knows them now.
    XCTAssertEqual(slow.product(fixture.firstID)?.words, words("Theirs"))
    try slow.save(words("Mine"), of: fixture.firstID, over: words("Theirs"))
    XCTAssertEqual(try fixture.loadCatalog().product(fixture.firstID)?.words, words("Mine"))
  }

  func testWordsThatWereTakenBackAreChangedWords() async throws {
    let fixture = try Fixture()
    let original = try XCTUnwrap(fixture.firstWords)
    try fixture.catalog.save(words("Base"), of: fixture.firstID, over: original)
    let slow = try fixture.loadCatalog()
    try fixture.catalog.save(original, of: fixture.firstID, over: words("Base"))
    XCTAssertThrowsError(
      try slow.save(words("Mine"), of: fixture.firstID, over: words("Base"))
    ) { XCTAssertEqual($0 as? CatalogError, .wordsChanged(original)) }
  }

  func testWordsThatAreSavedAlreadyAreSavedWithoutAWrite() async throws {
    let fixture = try Fixture()
    let base = fixture.firstWords
    let slow = try fixture.loadCatalog()
    try fixture.catalog.save(words("Same"), of: fixture.firstID, over: base)
    let before = try FileManager.default.attributesOfItem(atPath: fixture.edits.location.path)
    try slow.save(words("Same"), of: fixture.firstID, over: base)
    let after = try FileManager.default.attributesOfItem(atPath: fixture.edits.location.path)
    XCTAssertEqual(
      after[.systemFileNumber] as? UInt64, try XCTUnwrap(before[.systemFileNumber] as? UInt64))
  }

  func testARefreshReadsWhatOthersHaveWritten() async throws {
    let fixture = try Fixture()
    XCTAssertFalse(try fixture.catalog.refresh())
    for title in ["One", "Two", "Six"] {
      try fixture.saveElsewhere(words(title))
      XCTAssertTrue(try fixture.catalog.refresh())
      XCTAssertEqual(fixture.firstWords, words(title))
      XCTAssertFalse(try fixture.catalog.refresh())
    }
    try FileManager.default.removeItem(at: fixture.edits.location)
    XCTAssertTrue(try fixture.catalog.refresh())
    XCTAssertEqual(fixture.firstWords?.title, "Alpha")
  }

  func testARefreshOfAnUnusableFileKeepsTheWords() async throws {
    let fixture = try Fixture()
    try fixture.catalog.save(words("Mine"), of: fixture.firstID, over: fixture.firstWords)
    try Data("{".utf8).write(to: fixture.edits.location)
    for _ in 1...2 {
      XCTAssertThrowsError(try fixture.catalog.refresh()) {
        XCTAssertEqual(
          $0 as? CatalogError, .editsMalformed(path: fixture.edits.location.path))
      }
      XCTAssertEqual(fixture.firstWords, words("Mine"))
    }
  }
}
