import CGtk
import DesktopTestSupport
import RestorationGTK
import XCTest

/// What of a list is stored, looked at in the process that shows it.
@MainActor
final class RestorableRowsTests: XCTestCase {
  /// A save may come between a key and the next frame, and a kill right after it.
  func testTheRowAtTheTopFitsTheSelectionAlsoBeforeTheNextFrame() async throws {
    _ = try Desktop.ofThisProcess()
    XCTAssertNotEqual(gtk_init_check(), 0)
    let names = (0..<200).map { "row \($0)" }
    let list = List(of: names)
    let rows = RestorableRows(
      selection: list.selection, in: list.scrolled, restorationIdentifier: "list",
      identifiers: { names }, changed: {})
    let window = ObjectPointer(made: gtk_window_new())
    defer { gtk_window_destroy(window.of()) }
    gtk_window_set_default_size(window.of(), 200, 300)
    gtk_window_set_child(window.of(), list.scrolled.of())
    gtk_window_present(window.of())
    try waitFor("the list to be laid out") {
      while g_main_context_iteration(nil, 0) != 0 {}
      return list.pageSize > 0
    }
    XCTAssertEqual(rows.firstVisibleIndexPath, [0])

    list.choose(150)
    let top = try XCTUnwrap(rows.firstVisibleIndexPath?.first)
    XCTAssertTrue((100...150).contains(top), "Row \(top) is at the top.")
    XCTAssertEqual(rows.selectedIndexPaths, [[150]])
  }
}

/// Rows of text that scroll.
@MainActor
private struct List {
  let selection: ObjectPointer
  let scrolled = ObjectPointer(made: gtk_scrolled_window_new())
  private let view: ObjectPointer

  init(of names: [String]) {
    let model = gtk_string_list_new(nil)
    for name in names { gtk_string_list_append(model, name) }
    selection = ObjectPointer(made: gtk_single_selection_new(model))
    let factory = ObjectPointer(made: gtk_signal_list_item_factory_new())
    connect(
      factory, "setup",
      answering: { item in
        if let item { gtk_list_item_set_child(item.opaque, gtk_label_new("A row")) }
        return false
      })
    view = ObjectPointer(made: gtk_list_view_new(selection.opaque, factory.opaque))
    gtk_scrolled_window_set_child(scrolled.opaque, view.of())
  }

  /// Zero before the list is laid out.
  var pageSize: Double {
    gtk_adjustment_get_page_size(gtk_scrolled_window_get_vadjustment(scrolled.opaque))
  }

  /// Selects a row and brings it into sight, as a key does.
  func choose(_ row: UInt32) {
    gtk_single_selection_set_selected(selection.opaque, row)
    gtk_widget_activate_action_variant(
      view.of(), "list.scroll-to-item", g_variant_new_uint32(row))
  }
}
