internal import Foundation
package import RestorationKit

// What would be written by hand for these nodes and no others: the floor under saving and
// restoring. It stands beside the nodes, as the code of an app does.

/// Writes the tree below a node, each node before its children.
package func writePlainTree(_ root: any RestorableNode, to writer: inout PlainWriter) throws {
  var levels = [(nodes: [root], next: 0)]
  while var level = levels.popLast() {
    while level.next < level.nodes.count {
      let node = level.nodes[level.next]
      level.next += 1
      let children = try writePlain(node, to: &writer)
      guard !children.isEmpty else { continue }
      levels.append(level)
      level = (children, 0)
    }
  }
}

/// Returns the children.
private func writePlain(
  _ node: any RestorableNode, to writer: inout PlainWriter
) throws -> [any RestorableNode] {
  writer.write(node.restorationName ?? "", tag: 0)
  let children = node.restorationChildren
  writer.write(children.count, tag: 1)
  if let node = node as? ProductNode {
    node.writePlain(to: &writer)
  } else if !(node is SectionNode || node is CatalogNode) {
    throw WorkloadError("a node that is not of the catalog")
  }
  return children
}

extension CatalogNode {
  package convenience init(from reader: inout PlainReader) throws {
    _ = try reader.string(tag: 0)
    let count = try reader.integer(tag: 1)
    var sections: [SectionNode] = []
    sections.reserveCapacity(count)
    for _ in 0..<count { sections.append(try SectionNode(from: &reader)) }
    self.init(sections: sections)
  }
}

extension SectionNode {
  fileprivate convenience init(from reader: inout PlainReader) throws {
    let identifier = try reader.string(tag: 0)
    let count = try reader.integer(tag: 1)
    var products: [ProductNode] = []
    products.reserveCapacity(count)
    for _ in 0..<count { products.append(try ProductNode(from: &reader)) }
    self.init(identifier: identifier, products: products)
  }
}

extension ProductNode {
  fileprivate func writePlain(to writer: inout PlainWriter) {
    writer.write(product.title, tag: 2)
    writer.write(product.subtitle, tag: 3)
    writer.write(product.maker, tag: 4)
    writer.write(product.note, tag: 5)
    writer.write(product.stock, tag: 6)
    writer.write(product.price, tag: 7)
    writer.write(product.rating, tag: 8)
    writer.write(product.isFavourite, tag: 9)
    writer.write(product.changed.timeIntervalSinceReferenceDate, tag: 10)
    writer.write(product.digest, tag: 11)
    writer.write(product.recent, tag: 12)
  }

  fileprivate convenience init(from reader: inout PlainReader) throws {
    var product = Product()
    product.identifier = try reader.string(tag: 0)
    guard try reader.integer(tag: 1) == 0 else { throw WorkloadError("a product has children") }
    product.title = try reader.string(tag: 2)
    product.subtitle = try reader.string(tag: 3)
    product.maker = try reader.string(tag: 4)
    product.note = try reader.string(tag: 5)
    product.stock = try reader.integer(tag: 6)
    product.price = try reader.double(tag: 7)
    product.rating = try reader.double(tag: 8)
    product.isFavourite = try reader.bool(tag: 9)
    product.changed = Date(timeIntervalSinceReferenceDate: try reader.double(tag: 10))
    product.digest = try reader.data(tag: 11)
    product.recent = try reader.integers(tag: 12)
    self.init(product)
  }
}
