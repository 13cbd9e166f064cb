import CGtk
import CatalogModel
import RestorationGTK

/// A product, on the pages of a stack.
@MainActor
final class ProductDetail {
  /// A box with the switcher, the stack, and a button.
  let widget = ObjectPointer(made: gtk_box_new(GTK_ORIENTATION_VERTICAL, 6))
  let stack = ObjectPointer(made: gtk_stack_new())
  let button = ObjectPointer(made: gtk_button_new_with_mnemonic("_Edit"))
  /// The scrolled windows of the pages.
  let pages: [(tab: DetailTab, scrolled: ObjectPointer)]
  /// Called when the user wants to change the words of the product.
  var edit: (@MainActor () -> Void)?

  private let catalog: Catalog
  private let labels: [ObjectPointer]
  private var shown: Product?

  init(_ catalog: Catalog) {
    self.catalog = catalog
    labels = DetailTab.allCases.map { _ in ObjectPointer(made: gtk_label_new(nil)) }
    pages = DetailTab.allCases.map { ($0, ObjectPointer(made: gtk_scrolled_window_new())) }
    let switcher = ObjectPointer(made: gtk_stack_switcher_new())
    gtk_stack_switcher_set_stack(switcher.opaque, stack.opaque)
    gtk_widget_set_halign(switcher.of(), GTK_ALIGN_CENTER)
    gtk_stack_set_transition_type(stack.opaque, GTK_STACK_TRANSITION_TYPE_NONE)
    for (page, label) in zip(pages, labels) {
      gtk_label_set_wrap(label.opaque, 1)
      gtk_label_set_xalign(label.opaque, 0)
      gtk_label_set_yalign(label.opaque, 0)
      gtk_label_set_selectable(label.opaque, 0)
      gtk_scrolled_window_set_child(page.scrolled.opaque, label.of())
      gtk_widget_set_vexpand(page.scrolled.of(), 1)
      gtk_stack_add_titled(stack.opaque, page.scrolled.of(), page.tab.rawValue, page.tab.title)
      setAccessibleLabel(page.scrolled, page.tab.title)
    }
    gtk_widget_set_halign(button.of(), GTK_ALIGN_END)
    for child in [switcher, stack, button] { gtk_box_append(widget.of(), child.of()) }
    connect(button, "clicked") { [unowned self] in edit?() }
  }

  func show(_ product: Product?) {
    guard product != shown else { return }
    if product?.id != shown?.id {
      for page in pages {
        gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(page.scrolled.opaque), 0)
      }
    }
    shown = product
    gtk_widget_set_sensitive(button.of(), product == nil ? 0 : 1)
    for (page, label) in zip(pages, labels) {
      gtk_label_set_text(label.opaque, product.map { text(of: page.tab, $0) } ?? "")
    }
  }

  private func text(of tab: DetailTab, _ product: Product) -> String {
    switch tab {
    case .info:
      """
      \(product.title)
      \(product.section) · \(product.version)

      \(product.description)

      \(product.homepage ?? "No home page is known.")
      """
    case .details:
      catalog.facts(of: product).map { "\($0.label): \($0.value)" }.joined(separator: "\n")
    case .related:
      catalog.related(to: product).map { "\($0.title)\n\($0.firstSentence)\n" }
        .joined(separator: "\n")
    }
  }
}
