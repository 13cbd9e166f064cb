import CatalogModel
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
    catalog.facts(of: product).flatMap { field($0.label, $0.value) }
  }

  private var related: [StyledLine] {
    let others = catalog.related(to: product)
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
