import Foundation

/// The lines of a product's tabs, broken to a width.
@MainActor struct DetailContent {
  private static let labelColumns = 14

  let product: Product
  let catalog: Catalog
  let columns: Int

  func lines(of tab: DetailTab) -> [StyledLine] {
    switch tab {
    case .info: info
    case .details: details
    case .related: related
    }
  }

  private var info: [StyledLine] {
    paragraph(product.title, .bold)
      + paragraph("\(product.section) · \(product.version)", .dim)
      + [[]] + paragraph(product.description)
      + [[]] + paragraph(product.homepage ?? "No home page is known.", homepageStyle)
      + (isEdited ? [[]] + paragraph("• You have changed these words.", .warning) : [])
  }

  private var homepageStyle: Style {
    product.homepage == nil ? .dim : [.accent, .underline]
  }

  private var details: [StyledLine] {
    field("Package", product.package)
      + field("Version", product.version)
      + field("Section", product.section)
      + field("Home page", product.homepage ?? "not known")
      + field("Download", ByteCount(bytes: product.downloadBytes).description)
      + field("Installed", ByteCount(kibibytes: product.installedKiB).description)
      + field("Install with", "apt install \(product.package)")
      + field("Identifier", product.id.uuidString)
      + originalWords
  }

  private var originalWords: [StyledLine] {
    guard isEdited, let original = catalog.original(product.id) else { return [] }
    return [[]] + field("Was titled", original.title)
      + field("Was described", original.description)
  }

  private var related: [StyledLine] {
    let others = catalog.products.filter { $0.section == product.section && $0.id != product.id }
    guard !others.isEmpty else {
      return paragraph("Nothing else in the catalog is in \(product.section).", .dim)
    }
    return paragraph("Also in \(product.section)", .dim) + [[]]
      + others.flatMap { paragraph($0.title, .bold) + paragraph($0.firstSentence) + [[]] }
      .dropLast()
  }

  private var isEdited: Bool { catalog.isEdited(product.id) }

  private func paragraph(_ text: String, _ style: Style = []) -> [StyledLine] {
    TextLayout(text, columns: columns).texts.map { [Span(text: $0, style: style)] }
  }

  /// A label with its value beside it, or below it where the screen is narrow.
  private func field(_ label: String, _ value: String) -> [StyledLine] {
    guard columns >= 2 * Self.labelColumns else {
      return [[Span(text: label, style: .dim)]] + paragraph(value)
    }
    let values = TextLayout(value, columns: columns - Self.labelColumns).texts
    return values.enumerated().map { row, text in
      let shown = row == 0 ? label : ""
      let padding = String(repeating: " ", count: max(0, Self.labelColumns - shown.count))
      return [Span(text: shown + padding, style: .dim), Span(text: text)]
    }
  }
}

extension Product {
  fileprivate var firstSentence: String {
    description.split(separator: ". ", maxSplits: 1).first.map { $0.last == "." ? $0 : $0 + "." }
      .map(String.init) ?? ""
  }
}
