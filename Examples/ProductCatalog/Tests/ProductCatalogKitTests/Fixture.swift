import CatalogModel
import Foundation
import ProductCatalogKit
import Synchronization
import XCTest

/// A catalog of a few products in a directory of its own, which goes away with it.
@MainActor final class Fixture {
  let directory: URL
  let catalog: Catalog
  let firstID: UUID

  init(names: [String] = ["Alpha", "Beta", "Gamma"]) throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "catalog-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Self.products(names).write(to: directory.appending(path: "products.json"))
    self.directory = directory
    if Self.isRegistered { Self.made.withLock { $0.append(directory) } }
    catalog = try Self.catalog(in: directory)
    firstID = try XCTUnwrap(catalog.products.first?.id)
  }

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  /// All that were made: a catalog that goes on makes the directory of its edits again.
  private nonisolated static let made = Mutex<[URL]>([])

  private nonisolated static let isRegistered: Bool = {
    atexit {
      for directory in Fixture.made.withLock({ $0 }) {
        try? FileManager.default.removeItem(at: directory)
      }
    } == 0
  }()

  var edits: EditFile { EditFile(directory: directory.appending(path: "data")) }

  func loadCatalog() throws -> Catalog {
    try Self.catalog(in: directory)
  }

  /// The words that the catalog of the test shows of the first product.
  var firstWords: ProductEdit? { catalog.product(firstID)?.words }

  /// Another process saves words of the first product.
  func saveElsewhere(_ words: ProductEdit) throws {
    let other = try loadCatalog()
    try other.save(words, of: firstID, over: other.product(firstID)?.words)
  }

  func editScreen() throws -> EditScreen {
    try XCTUnwrap(EditScreen(catalog: catalog, productID: firstID))
  }

  /// The screens a script prints, run on a fresh app.
  func screens(
    _ script: String, size: Size = Size(columns: 60, rows: 12)
  ) async throws -> [String] {
    var output = ""
    let console = ScriptedConsole(try Script(script), size: size) { output += $0 }
    let navigation = NavigationStack(root: ProductListScreen(catalog: catalog))
    _ = await App(windows: Windows(navigation), console: console).run()
    return output.split(separator: "--- screen ").map {
      String($0.drop { !$0.isNewline }.dropFirst().dropLast())
    }
  }

  /// The catalog as it would load if other products came with the program.
  func loadCatalog(changing change: ([Any]) -> [Any]) throws -> Catalog {
    let location = directory.appending(path: "products.json")
    var contents = try XCTUnwrap(
      JSONSerialization.jsonObject(with: Data(contentsOf: location)) as? [String: Any])
    contents["products"] = change(try XCTUnwrap(contents["products"] as? [Any]))
    try JSONSerialization.data(withJSONObject: contents).write(to: location)
    return try loadCatalog()
  }

  private static func catalog(in directory: URL) throws -> Catalog {
    try Catalog(
      products: ProductFile(directory.appending(path: "products.json")),
      edits: EditFile(directory: directory.appending(path: "data")))
  }

  private static func products(_ names: [String]) throws -> Data {
    let products: [[String: Any]] = names.enumerated().map { row, name in
      [
        "id": UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(row))).uuidString,
        "package": name.lowercased(), "title": name, "description": "First of all.",
        "version": "1.\(row)", "section": "letters", "homepage": "https://\(name).example",
        "downloadBytes": 123_456, "installedKiB": 4567,
      ]
    }
    return try JSONSerialization.data(withJSONObject: ["source": "test", "products": products])
  }
}
