internal import Foundation
package import Workload

extension ProtoCatalog {
  package init(_ catalog: Catalog) {
    identifier = catalog.identifier
    sections = catalog.sections.map { section in
      var message = ProtoSection()
      message.identifier = section.identifier
      message.products = section.products.map(ProtoProduct.init)
      return message
    }
  }
}

extension ProtoProduct {
  fileprivate init(_ product: Product) {
    identifier = product.identifier
    title = product.title
    subtitle = product.subtitle
    maker = product.maker
    note = product.note
    stock = Int64(product.stock)
    price = product.price
    rating = product.rating
    isFavourite = product.isFavourite
    changed = product.changed.timeIntervalSinceReferenceDate
    digest = product.digest
    recent = product.recent.map(Int64.init)
  }
}
