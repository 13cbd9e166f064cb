public import RestorationFoundation

/// A list of rows, some of them selected, scrolled to one of them.
///
/// A node or a view conforms; the selection and the first visible row are then saved
/// and brought back. ``modelAssociation`` gives a row an identifier, by which a restore
/// finds the row again. Without an association the same positions come back, where
/// other rows may be by then; ``StateDecoder/hasRawListPositions`` says so.
public protocol RestorableList: RestorationAbility {
  /// The rows that are selected.
  ///
  /// Set in a restore after the list's own decoding, to the rows that are there.
  var selectedIndexPaths: [IndexPath] { get set }

  /// The row at the top, nil for an empty list.
  ///
  /// Set after layout, if the row is there.
  var firstVisibleIndexPath: IndexPath? { get set }

  /// Turns rows into identifiers and back; none by default.
  var modelAssociation: (any DataSourceModelAssociation)? { get }

  /// Whether a row is there; asked for positions that were saved without an identifier.
  ///
  /// - Parameter indexPath: The position, as it was saved.
  /// - Returns: Whether the list has a row there.
  func hasElement(at indexPath: IndexPath) -> Bool
}

extension RestorableList {
  /// None.
  public var modelAssociation: (any DataSourceModelAssociation)? { nil }
}

/// Tells which element of a model a row of a list shows.
public protocol DataSourceModelAssociation: AnyObject {
  /// The identifier of the element that a row shows.
  ///
  /// Asked in a save for the first visible row and every selected one.
  ///
  /// - Parameters:
  ///   - indexPath: The row.
  ///   - list: The list.
  /// - Returns: An identifier that is the same in every launch, or nil to leave
  ///   the row out.
  func modelIdentifierForElement(at indexPath: IndexPath, in list: any RestorableList) -> String?

  /// The row that shows an element now.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the element.
  ///   - list: The list.
  /// - Returns: The row, or nil if the element is not there any more.
  func indexPathForElement(
    withModelIdentifier identifier: String, in list: any RestorableList
  ) -> IndexPath?
}
