public import Foundation

/// The file that lists the products.
public struct ProductFile: Hashable, Sendable {
  /// The file itself.
  public let location: URL

  /// Names a file, which is read when a catalog is made of it.
  public init(_ location: URL) {
    self.location = location
  }

  /// The file that comes with the program.
  public static var bundled: ProductFile? {
    Bundle.module.url(forResource: "products", withExtension: "json").map(ProductFile.init)
  }

  func products() throws(CatalogError) -> [Product] {
    let data: Data
    do {
      data = try Data(contentsOf: location)
    } catch {
      throw .productsUnreadable(path: location.path)
    }
    do {
      return try JSONDecoder().decode(Contents.self, from: data).products
    } catch {
      throw .productsMalformed(path: location.path)
    }
  }

  private struct Contents: Decodable {
    let source: String
    let products: [Product]
  }
}
