import Foundation

/// A line of what is known of a product.
public struct Fact: Hashable, Sendable {
  /// What it is.
  public let label: String
  /// The fact itself, written for a reader.
  public let value: String

  init(_ label: String, _ value: String) {
    (self.label, self.value) = (label, value)
  }
}

extension Products {
  /// What is known of a product besides its words.
  public func facts(of product: Product) -> [Fact] {
    [
      Fact("Package", product.package),
      Fact("Version", product.version),
      Fact("Section", product.section),
      Fact("Home page", product.homepage ?? "not known"),
      Fact("Download", ByteCount(bytes: product.downloadBytes).description),
      Fact("Installed", ByteCount(kibibytes: product.installedKiB).description),
      Fact("Install with", "apt install \(product.package)"),
      Fact("Identifier", product.id.uuidString),
    ] + originalWords(of: product)
  }

  private func originalWords(of product: Product) -> [Fact] {
    guard isEdited(product.id), let original = original(product.id) else { return [] }
    return [Fact("Was titled", original.title), Fact("Was described", original.description)]
  }

  /// The other products of its section.
  public func related(to product: Product) -> [Product] {
    all.filter { $0.section == product.section && $0.id != product.id }
  }

  /// The products that match a search, all of them if it is empty.
  public func matching(_ query: String) -> [Product] {
    query.isEmpty ? all : all.filter { $0.matches(query) }
  }
}

extension Catalog {
  /// What is known of a product besides its words.
  public func facts(of product: Product) -> [Fact] { contents.facts(of: product) }

  /// The other products of its section.
  public func related(to product: Product) -> [Product] { contents.related(to: product) }

  /// The products that match a search, all of them if it is empty.
  public func products(matching query: String) -> [Product] { contents.matching(query) }
}

extension Product {
  /// The first sentence of its description.
  public var firstSentence: String {
    description.split(separator: ". ", maxSplits: 1).first.map { $0.last == "." ? $0 : $0 + "." }
      .map(String.init) ?? ""
  }

  fileprivate func matches(_ query: String) -> Bool {
    title.lowercased().contains(query.lowercased()) || package.contains(query.lowercased())
  }
}
