import CGtk
package import CatalogModel
import Foundation
package import RestorationGTK
import RestorationKit

/// A window of the catalog: the list, and beside it the product that is selected or being edited.
@MainActor
package final class CatalogWindow {
  /// A `GtkApplicationWindow`.
  package let window: ObjectPointer
  let search = ObjectPointer(made: gtk_search_entry_new())
  let paned = ObjectPointer(made: gtk_paned_new(GTK_ORIENTATION_HORIZONTAL))
  let header = CatalogHeader()
  let list: ProductList
  let detail: ProductDetail
  package let editor: ProductEditor

  private let catalog: Catalog
  private let empty = EmptyState()
  /// Shows the product, the editor, or that nothing was found.
  private let side = ObjectPointer(made: gtk_stack_new())

  private enum Side: String { case detail, editor, empty }

  package init(_ catalog: Catalog, application: ObjectPointer) {
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
    gtk_window_set_titlebar(window.of(), header.widget.of())
    setMargins(search, horizontal: 12, vertical: 12)
    let left = box(GTK_ORIENTATION_VERTICAL, spacing: 0, [search, list.widget])
    gtk_widget_set_size_request(left.of(), 200, -1)
    gtk_stack_set_transition_type(side.opaque, GTK_STACK_TRANSITION_TYPE_NONE)
    add(.content, to: side)
    for (page, widget) in [
      (Side.detail, detail.widget), (.editor, editor.widget), (.empty, empty.widget),
    ] {
      gtk_stack_add_named(side.opaque, widget.of(), page.rawValue)
    }
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
    header.edit = { [unowned self] in edit() }
    header.cancel = { [unowned self] in editor.leave() }
    header.save = { [unowned self] in editor.save() }
    // Meanwhile the user may have used another program.
    connect(window, "notify::is-active") { [unowned self] in
      if gtk_window_is_active(window.of()) != 0 { refresh() }
    }
    show()
  }

  /// What the window is about, as its title says it.
  var title: String {
    if let id = editor.productID {
      return "Edit \(catalog.product(id)?.title ?? editor.words.title)"
    }
    return list.selectedProduct?.title ?? "Catalog"
  }

  /// Shows the product that is selected, or the editor if it is open.
  package func show() {
    editor.look()
    let isEditing = editor.productID != nil
    let product = list.selectedProduct
    detail.show(product)
    empty.show(list.query)
    let page: Side = isEditing ? .editor : product == nil ? .empty : .detail
    gtk_stack_set_visible_child_name(side.opaque, page.rawValue)
    gtk_widget_set_sensitive(list.widget.of(), isEditing ? 0 : 1)
    gtk_widget_set_sensitive(search.of(), isEditing ? 0 : 1)
    // GTK finds another place for it only in the next frame, and a save may come before.
    if header.losesKeyboard(isEditing: isEditing) {
      gtk_widget_grab_focus(isEditing ? editor.title.of() : search.of())
    }
    header.show(isEditing: isEditing, canEdit: product != nil)
    gtk_window_set_title(window.of(), title)
    list.refresh()
  }

  /// Opens the editor, which keeps its words if it is open.
  package func edit() {
    guard editor.productID == nil else { return }
    refresh()
    guard let product = list.selectedProduct else { return }
    editor.begin(product.id)
    show()
    gtk_widget_grab_focus(editor.title.of())
  }

  /// Looks at what other programs have saved.
  package func refresh() {
    do throws(CatalogError) {
      if try catalog.refresh() { editor.updated?() }
    } catch {
      // The words that are known stay; saving says what is wrong with the file.
    }
  }
}
