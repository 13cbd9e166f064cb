/// The tree that every peer stores: sections of up to a hundred products.
package struct Catalog: Codable, Hashable, Sendable {
  package var identifier = "catalog"
  package var sections: [Section] = []

  package init(sections: [Section]) {
    self.sections = sections
  }

  /// Makes the same products at every call and on every machine.
  package init(productCount: Int) {
    sections = Array(Self.sections(productCount: productCount))
  }

  package var products: [Product] { sections.flatMap(\.products) }

  /// The same sections one after the other, for which nobody need have room at once.
  static func sections(productCount: Int) -> some Sequence<Section> {
    sequence(state: (first: 0, random: SplitMix64(seed: 0x00ca_7a10))) { state in
      guard state.first < productCount else { return nil }
      defer { state.first += sectionSize }
      return Section(
        identifier: "section-\(state.first / sectionSize)",
        products: (state.first..<min(state.first + sectionSize, productCount)).map {
          Product(number: $0, random: &state.random)
        })
    }
  }

  private static let sectionSize = 100
}
