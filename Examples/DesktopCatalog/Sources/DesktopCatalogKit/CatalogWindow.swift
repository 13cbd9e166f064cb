import CGtk
import CatalogModel
import Foundation
import RestorationGTK
import RestorationKit

/// A window of the catalog: the list, and beside it the product that is selected or being edited.
@MainActor
final class CatalogWindow {
  /// A `GtkApplicationWindow`.
  let window: ObjectPointer
  let search = ObjectPointer(made: gtk_search_entry_new())
  let paned = ObjectPointer(made: gtk_paned_new(GTK_ORIENTATION_HORIZONTAL))
  let list: ProductList
  let detail: ProductDetail
  let editor: ProductEditor
  /// Shows the product, or the editor.
  let side = ObjectPointer(made: gtk_stack_new())

  private let catalog: Catalog

  init(_ catalog: Catalog, application: ObjectPointer) {
    self.catalog = catalog
    window = ObjectPointer(made: gtk_application_window_new(application.of()))
    list = ProductList(catalog)
    detail = ProductDetail(catalog)
    editor = ProductEditor(catalog, in: window)
    build()
  }

  private func build() {
    gtk_window_set_default_size(window.of(), 900, 560)
    gtk_window_set_title(window.of(), "Catalog")
    gtk_search_entry_set_key_capture_widget(search.opaque, nil)
    setAccessibleLabel(search, "Search the catalog")
    let left = ObjectPointer(made: gtk_box_new(GTK_ORIENTATION_VERTICAL, 6))
    gtk_widget_set_size_request(left.of(), 180, -1)
    gtk_box_append(left.of(), search.of())
    gtk_box_append(left.of(), list.widget.of())
    gtk_stack_set_transition_type(side.opaque, GTK_STACK_TRANSITION_TYPE_NONE)
    gtk_stack_add_named(side.opaque, detail.widget.of(), "detail")
    gtk_stack_add_named(side.opaque, editor.widget.of(), "editor")
    gtk_paned_set_start_child(paned.opaque, left.of())
    gtk_paned_set_end_child(paned.opaque, side.of())
    gtk_paned_set_shrink_start_child(paned.opaque, 0)
    gtk_paned_set_shrink_end_child(paned.opaque, 0)
    gtk_paned_set_resize_start_child(paned.opaque, 0)
    gtk_paned_set_position(paned.opaque, 300)
    gtk_window_set_child(window.of(), paned.of())

    connect(search, "changed") { [unowned self] in
      list.search(for: String(cString: gtk_editable_get_text(search.opaque)))
    }
    list.selected = { [unowned self] in show() }
    detail.edit = { [unowned self] in edit() }
    show()
  }

  /// What the window is about, as its title says it.
  var title: String {
    if let product = editor.productID.flatMap(catalog.product) { return "Edit \(product.title)" }
    return list.selectedProduct?.title ?? "Catalog"
  }

  /// Shows the product that is selected, or the editor if it is open.
  func show() {
    detail.show(list.selectedProduct)
    gtk_stack_set_visible_child_name(side.opaque, editor.productID == nil ? "detail" : "editor")
    gtk_widget_set_sensitive(list.widget.of(), editor.productID == nil ? 1 : 0)
    gtk_widget_set_sensitive(search.of(), editor.productID == nil ? 1 : 0)
    gtk_window_set_title(window.of(), title)
    list.refresh()
  }

  /// Opens the editor, which keeps its words if it is open.
  func edit() {
    guard editor.productID == nil, let product = list.selectedProduct else { return }
    editor.begin(product.id)
    show()
    gtk_widget_grab_focus(editor.title.of())
  }
}
