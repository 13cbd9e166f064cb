internal import Foundation
package import Workload

/// NSKeyedArchiver of corelibs, which seals nothing; for small catalogs only.
package final class KeyedArchiverPeer {
  private let products: NSArray
  private var archived = Data()

  package init(_ catalog: Catalog) {
    products = NSArray(array: catalog.products.map(ArchivedProduct.init))
  }

  package func encode() throws {
    archived = try NSKeyedArchiver.archivedData(
      withRootObject: products, requiringSecureCoding: true)
  }

  package func decode() throws -> Int {
    let root = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSArray.self, ArchivedProduct.self, NSNumber.self], from: archived)
    return (root as? [ArchivedProduct])?.count ?? 0
  }
}
