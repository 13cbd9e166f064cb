internal import RestorationFoundation
internal import ArchiveCodec

// The state that the library writes and reads for objects that conform to one of its protocols.
//
// This state lies apart from the object's own state, so that an object that implements
// the hooks itself, or forgets to call its superclass, does not lose it.

// MARK: - Saving

extension KeyedEncoder {
  /// Writes the values that the library stores of an object besides those of its hook.
  func encodeBuiltIn(
    of object: any StateRestoring, reference: (any RestorableNode) -> UInt64?
  ) {
    let container = beginContainer(forKey: BuiltInKey.container)
    let start = byteCount
    if let tab = (object as? any RestorableTabs)?.selectedTab.flatMap(reference) {
      encodeReference(to: tab, forKey: BuiltInKey.selectedTab)
    }
    if let list = object as? any RestorableList {
      encode(list.selectedIndexPaths, of: list, BuiltInKey.selected)
      let first = list.firstVisibleIndexPath
      if let first { encode([first], of: list, BuiltInKey.firstVisible) }
    }
    if let offset = (object as? any RestorableScrolling)?.contentOffset {
      encode([offset.x, offset.y], forKey: BuiltInKey.offset)
    }
    if let range = (object as? any RestorableTextSelection)?.selectedTextRange {
      encode([range.lowerBound, range.upperBound], forKey: BuiltInKey.textSelection)
    }
    // Most have nothing to store, and no container.
    if byteCount == start { undoContainer(container) } else { endContainer(container) }
  }

  private func encode(
    _ rows: [IndexPath], of list: any RestorableList, _ keys: BuiltInKey.Rows
  ) {
    guard let model = list.modelAssociation else {
      return encode(rows.map(Array.init), forKey: keys.paths)
    }
    let elements = rows.compactMap { model.modelIdentifierForElement(at: $0, in: list) }
    encode(elements, forKey: keys.elements)
  }
}

// MARK: - Restoring

extension KeyedDecoder {
  /// Sets the properties that need the object's content: the selections.
  func restoreAfterDecoding(_ object: any StateRestoring) throws(ArchiveError) {
    if let list = object as? any RestorableList,
      let selected = try rows(BuiltInKey.selected, in: list)
    {
      list.selectedIndexPaths = selected
    }
    if let text = object as? any RestorableTextSelection,
      let bounds = try decodeIfPresent([Int].self, forKey: BuiltInKey.textSelection)
    {
      let fits =
        bounds.count == 2 && 0 <= bounds[0] && bounds[0] <= bounds[1]
        && bounds[1] <= text.textLength
      text.selectedTextRange = fits ? bounds[0]..<bounds[1] : nil
    }
  }

  /// Sets the properties that need the object's layout: the scroll positions.
  func restoreAfterLayout(_ object: any StateRestoring) throws(ArchiveError) {
    if let list = object as? any RestorableList,
      let first = try rows(BuiltInKey.firstVisible, in: list)?.first
    {
      list.firstVisibleIndexPath = first
    }
    if let scrolling = object as? any RestorableScrolling,
      let offset = try decodeIfPresent([Double].self, forKey: BuiltInKey.offset),
      offset.count == 2
    {
      let largest = scrolling.maximumContentOffset
      // A coordinate that is NaN becomes zero.
      let (x, y) = (Double.maximum(0, offset[0]), Double.maximum(0, offset[1]))
      scrolling.contentOffset = (max(0, min(x, largest.x)), max(0, min(y, largest.y)))
    }
  }

  /// The rows under one of two keys that the list has now; nil if neither is there.
  private func rows(
    _ keys: BuiltInKey.Rows, in list: any RestorableList
  ) throws(ArchiveError) -> [IndexPath]? {
    if let elements = try decodeIfPresent([String].self, forKey: keys.elements) {
      return elements.compactMap {
        list.modelAssociation?.indexPathForElement(withModelIdentifier: $0, in: list)
      }
    }
    let paths = try decodeIfPresent([[Int]].self, forKey: keys.paths)
    return paths?.map { IndexPath(indexes: $0) }.filter { list.hasElement(at: $0) }
  }
}

/// The keys of the values that the library writes for an element that conforms to one
/// of its protocols.
enum BuiltInKey {
  /// The container of these values in the body of an element, beside the values of its hook.
  static let container = "RestorationKit.builtIn"
  // Counted here, since each key of a hook is compared with it (benchmark: save nodes).
  static let containerByteCount = 22

  /// Rows are stored by the identifiers of a model, or else by their positions.
  typealias Rows = (elements: String, paths: String)

  static let selected: Rows = ("selectedElements", "selectedIndexPaths")
  static let firstVisible: Rows = ("firstVisibleElement", "firstVisibleIndexPath")
  static let selectedTab = "selectedTab"
  static let offset = "offset"
  static let textSelection = "textSelection"
}
