/// The tree that every peer stores: sections of up to a hundred products.
package struct Catalog: Codable, Hashable, Sendable {
  package var identifier = "catalog"
  package var sections: [Section] = []

  package init(sections: [Section]) {
    self.sections = sections
  }

  /// Makes the same products at every call and on every machine.
  package init(productCount: Int) {
    var random = SplitMix64(seed: 0x00ca_7a10)
    sections = stride(from: 0, to: productCount, by: Self.sectionSize).map { first in
      Section(
        identifier: "section-\(first / Self.sectionSize)",
        products: (first..<min(first + Self.sectionSize, productCount)).map {
          Product(number: $0, random: &random)
        })
    }
  }

  package var products: [Product] { sections.flatMap(\.products) }

  private static let sectionSize = 100
}
