import CGtk
import CatalogModel
import Foundation
import RestorationGTK

/// The products that match what is searched for, row by row.
@MainActor
final class ProductList {
  /// A `GtkScrolledWindow` with the list.
  let widget = ObjectPointer(made: gtk_scrolled_window_new())
  /// A `GtkListView`.
  let view: ObjectPointer
  /// A `GtkSingleSelection`.
  let selection: ObjectPointer
  /// Called when another product is selected.
  var selected: (@MainActor () -> Void)?
  private(set) var products: [Product]

  private let catalog: Catalog
  /// A `GtkStringList` with the identifiers of the products.
  private let model = ObjectPointer(made: gtk_string_list_new(nil))
  private(set) var query = ""
  private var isChanging = false

  init(_ catalog: Catalog) {
    self.catalog = catalog
    products = catalog.products
    let factory = ObjectPointer(made: gtk_signal_list_item_factory_new())
    selection = ObjectPointer(made: gtk_single_selection_new(model.opaque))
    view = ObjectPointer(made: gtk_list_view_new(selection.opaque, factory.opaque))
    connect(
      factory, "setup",
      answering: { item in
        guard let item else { return false }
        let row = box(
          GTK_ORIENTATION_VERTICAL, spacing: 3, [line(.heading), line(.dim, .caption)])
        setMargins(row, horizontal: 6, vertical: 6)
        gtk_list_item_set_child(item.opaque, row.of())
        return false
      })
    connect(
      factory, "bind",
      answering: { [unowned self] item in
        guard let item, let row = gtk_list_item_get_child(item.opaque) else { return false }
        let number = Int(gtk_list_item_get_position(item.opaque))
        let product = products.indices.contains(number) ? products[number] : nil
        let texts = [product?.title, product?.firstSentence]
        var label = gtk_widget_get_first_child(row)
        for text in texts {
          guard let line = label else { break }
          gtk_label_set_text(ObjectPointer(line).opaque, text ?? "")
          label = gtk_widget_get_next_sibling(line)
        }
        return false
      })
    add(.sidebar, to: view)
    setAccessibleLabel(view, "Products")
    gtk_scrolled_window_set_child(widget.opaque, view.of())
    gtk_widget_set_vexpand(widget.of(), 1)
    fill()
    connect(selection, "notify::selected") { [unowned self] in
      if !isChanging { selected?() }
    }
  }

  var identifiers: [String] { products.map(\.id.uuidString) }

  var selectedProduct: Product? {
    let row = gtk_single_selection_get_selected(selection.opaque)
    return row < products.count ? catalog.product(products[Int(row)].id) : nil
  }

  func select(_ id: UUID) {
    guard let row = products.firstIndex(where: { $0.id == id }) else { return }
    gtk_single_selection_set_selected(selection.opaque, guint(row))
  }

  /// Shows the products that match; the selected one stays selected if it is among them.
  func search(for query: String) {
    guard query != self.query else { return }
    self.query = query
    find()
    selected?()
  }

  private func find() {
    let selectedID = selectedProduct?.id
    isChanging = true
    products = catalog.products(matching: query)
    fill()
    let row = products.firstIndex { $0.id == selectedID } ?? 0
    gtk_single_selection_set_selected(selection.opaque, guint(row))
    isChanging = false
  }

  /// Shows the words that products have now, and only those that still match.
  func refresh() {
    let now = catalog.products(matching: query)
    guard now != products else { return }
    guard now.map(\.id) == products.map(\.id) else {
      find()
      selected?()
      return
    }
    let changed = products.indices.filter { products[$0] != now[$0] }
    products = now
    isChanging = true
    let row = gtk_single_selection_get_selected(selection.opaque)
    for row in changed { replace(row, 1, with: [identifiers[row]]) }
    gtk_single_selection_set_selected(selection.opaque, row)
    isChanging = false
  }

  private func fill() {
    replace(0, Int(g_list_model_get_n_items(model.opaque)), with: identifiers)
  }

  private func replace(_ row: Int, _ count: Int, with identifiers: [String]) {
    let texts = identifiers.map { strdup($0) }
    defer { texts.forEach { free($0) } }
    let ended = texts.map { UnsafePointer<CChar>($0) } + [nil]
    ended.withUnsafeBufferPointer {
      gtk_string_list_splice(model.opaque, guint(row), guint(count), $0.baseAddress)
    }
  }
}
