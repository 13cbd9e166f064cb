import CGtk
import CatalogModel
import RestorationGTK

/// A product, on the pages of a stack.
@MainActor
final class ProductDetail {
  /// A box with the switcher and the stack.
  let widget: ObjectPointer
  let stack = ObjectPointer(made: gtk_stack_new())
  /// The scrolled windows of the pages.
  let pages: [(tab: DetailTab, scrolled: ObjectPointer)]

  private let catalog: Catalog
  /// What scrolls on the pages: each a box with the content.
  private let frames: [ObjectPointer]
  private var shown: Product?

  init(_ catalog: Catalog) {
    self.catalog = catalog
    pages = DetailTab.allCases.map { ($0, ObjectPointer(made: gtk_scrolled_window_new())) }
    frames = pages.map { _ in box(GTK_ORIENTATION_VERTICAL, spacing: 0) }
    let switcher = ObjectPointer(made: gtk_stack_switcher_new())
    gtk_stack_switcher_set_stack(switcher.opaque, stack.opaque)
    gtk_widget_set_halign(switcher.of(), GTK_ALIGN_CENTER)
    setMargins(switcher, horizontal: 12, vertical: 12)
    gtk_stack_set_transition_type(stack.opaque, GTK_STACK_TRANSITION_TYPE_NONE)
    widget = box(GTK_ORIENTATION_VERTICAL, spacing: 0, [switcher, stack])
    for (page, frame) in zip(pages, frames) {
      setMargins(frame, horizontal: 24, vertical: 12)
      gtk_scrolled_window_set_child(page.scrolled.opaque, frame.of())
      gtk_widget_set_vexpand(page.scrolled.of(), 1)
      gtk_stack_add_titled(stack.opaque, page.scrolled.of(), page.tab.rawValue, page.tab.title)
      setAccessibleLabel(page.scrolled, page.tab.title)
    }
  }

  func show(_ product: Product?) {
    guard product != shown else { return }
    if product?.id != shown?.id {
      for page in pages {
        gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(page.scrolled.opaque), 0)
      }
    }
    shown = product
    for (page, frame) in zip(pages, frames) {
      gtk_widget_get_first_child(frame.of()).map { gtk_box_remove(frame.of(), $0) }
      if let product { gtk_box_append(frame.of(), content(of: page.tab, product).of()) }
    }
  }

  private func content(of tab: DetailTab, _ product: Product) -> ObjectPointer {
    switch tab {
    case .info: info(of: product)
    case .details: table(of: catalog.facts(of: product))
    case .related:
      box(
        GTK_ORIENTATION_VERTICAL, spacing: 12,
        catalog.related(to: product).map { other in
          box(
            GTK_ORIENTATION_VERTICAL, spacing: 3,
            [paragraph(other.title, .heading), paragraph(other.firstSentence, .dim, width: 80)])
        })
    }
  }

  private func info(of product: Product) -> ObjectPointer {
    let heading = box(
      GTK_ORIENTATION_VERTICAL, spacing: 6,
      [
        paragraph(product.title, .title, width: 32),
        paragraph("\(product.section) · \(product.version)", .dim),
      ])
    return box(
      GTK_ORIENTATION_VERTICAL, spacing: 18,
      [
        heading, paragraph(product.description),
        paragraph(product.homepage ?? "No home page is known.", .dim),
      ])
  }

  private func table(of facts: [Fact]) -> ObjectPointer {
    let grid = ObjectPointer(made: gtk_grid_new())
    gtk_grid_set_row_spacing(grid.of(), 12)
    gtk_grid_set_column_spacing(grid.of(), 18)
    for (row, fact) in facts.enumerated() {
      let label = paragraph(fact.label, .dim)
      gtk_widget_set_valign(label.of(), GTK_ALIGN_START)
      gtk_grid_attach(grid.of(), label.of(), 0, Int32(row), 1, 1)
      gtk_grid_attach(grid.of(), paragraph(fact.value).of(), 1, Int32(row), 1, 1)
    }
    return grid
  }
}
