#if GTK
internal import CGTK4
public import Foundation
public import RestorationKit

/// A list whose rows stand for elements of a model, which come and go between two launches.
///
/// The selected row and the first one in sight are found again by the identifiers of their
/// elements. All rows have one height, so that the place of the first one in sight is also
/// found in another font.
@MainActor
public final class RestorableRows: @MainActor RestorableView, @MainActor RestorableList {
  private enum Key {
    static let fraction = "fraction"
  }

  /// The name of the view.
  public let restorationIdentifier: String?

  /// A `GtkSingleSelection`.
  private let selection: ObjectPointer
  /// A `GtkScrolledWindow`.
  private let scrolled: ObjectPointer
  private let scroller: Scroller
  private let identifiers: @MainActor () -> [String]
  /// The row that is to be at the top once the rows have a height, and how much of it is
  /// above the top.
  private var waiting: (row: Int, fraction: Double)?
  private var storedFraction = 0.0

  /// Creates a view for a list.
  ///
  /// - Parameters:
  ///   - selection: The `GtkSingleSelection` of a `GtkListView`.
  ///   - scrolled: The `GtkScrolledWindow` around it.
  ///   - identifier: The name of the view in its node.
  ///   - identifiers: Gives the identifiers of the elements, row by row.
  ///   - changed: Is called when another row is selected, or the list was scrolled.
  public init(
    selection: ObjectPointer, in scrolled: ObjectPointer,
    restorationIdentifier identifier: String,
    identifiers: @escaping @MainActor () -> [String], changed: @escaping @MainActor () -> Void
  ) {
    self.selection = selection
    self.scrolled = scrolled
    self.identifiers = identifiers
    restorationIdentifier = identifier
    let adjustment = ObjectPointer(
      made: gtk_scrolled_window_get_vadjustment(scrolled.opaque))
    scroller = Scroller(adjustment, changed: changed)
    connect(selection, "notify::selected", changed)
    connect(adjustment, "changed") { [weak self] in self?.laidOut() }
  }

  private var rowCount: Int { Int(g_list_model_get_n_items(selection.opaque)) }

  /// Zero before the list is laid out.
  private var rowHeight: Double { rowCount == 0 ? 0 : scroller.length / Double(rowCount) }

  /// The selected row.
  public var selectedIndexPaths: [IndexPath] {
    get {
      let row = gtk_single_selection_get_selected(selection.opaque)
      return row == guint.max ? [] : [IndexPath(index: Int(row))]
    }
    set {
      guard let row = newValue.first?.first else { return }
      gtk_single_selection_set_selected(selection.opaque, guint(row))
    }
  }

  /// The row at the top in the next frame.
  public var firstVisibleIndexPath: IndexPath? {
    get {
      layOutNow(scrolled)
      if let waiting { return IndexPath(index: waiting.row) }
      guard rowCount > 0 else { return nil }
      return IndexPath(index: rowHeight > 0 ? min(Int(topRow), rowCount - 1) : 0)
    }
    set {
      guard let row = newValue?.first else { return }
      waiting = (row, storedFraction)
      laidOut()
    }
  }

  /// The row at the top, and how much of it is above the top.
  private var topRow: Double { scroller.value / rowHeight }

  private func laidOut() {
    guard let waiting, scroller.isLaidOut, rowHeight > 0 else { return }
    self.waiting = nil
    // GTK cuts what is less than a pixel, so that a rounding error would be a whole one.
    scroller.value = ((Double(waiting.row) + waiting.fraction) * rowHeight).rounded()
  }

  /// Writes how much of the row at the top is above the top.
  public func encodeRestorableState(with coder: StateEncoder) throws {
    layOutNow(scrolled)
    let fraction = waiting?.fraction ?? (rowHeight > 0 ? topRow - topRow.rounded(.down) : 0)
    coder.encode(fraction, forKey: Key.fraction)
  }

  /// Reads how much of the row at the top was above the top.
  public func decodeRestorableState(with coder: StateDecoder) throws {
    let fraction: Double = try coder.decodeIfPresent(forKey: Key.fraction) ?? 0
    storedFraction = fraction >= 0 && fraction < 1 ? fraction : 0
  }

  /// Rows are told by the identifiers of their elements.
  public var modelAssociation: (any DataSourceModelAssociation)? { self }

  /// Whether there is such a row.
  public func hasElement(at indexPath: IndexPath) -> Bool {
    indexPath.count == 1 && (0..<rowCount).contains(indexPath[0])
  }
}

extension RestorableRows: @MainActor DataSourceModelAssociation {
  /// The identifier of the element that a row shows.
  public func modelIdentifierForElement(
    at indexPath: IndexPath, in list: any RestorableList
  ) -> String? {
    hasElement(at: indexPath) ? identifiers()[indexPath[0]] : nil
  }

  /// The row that shows an element now.
  public func indexPathForElement(
    withModelIdentifier identifier: String, in list: any RestorableList
  ) -> IndexPath? {
    identifiers().firstIndex(of: identifier).map { IndexPath(index: $0) }
  }
}
#endif
