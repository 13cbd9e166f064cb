internal import RestorationFoundation
internal import ArchiveCodec

/// The state that the library writes and reads for objects that conform to one of its
/// protocols.
///
/// This state lies apart from the object's own state, so that an object that implements
/// the hooks itself, or forgets to call its superclass, does not lose it.
struct BuiltInState {
  let values: KeyedDecoder

  init(_ values: KeyedDecoder) {
    self.values = values
  }

  /// Whether rows of a list were saved by their positions.
  var hasRawListPositions: Bool {
    values.contains(BuiltInKey.selectedIndexPaths)
      || values.contains(BuiltInKey.firstVisibleIndexPath)
  }
}

// MARK: - Saving

extension BuiltInState {
  static func encode(
    _ object: any StateRestoring, with encoder: KeyedEncoder,
    reference: (any RestorableNode) -> UInt64?
  ) {
    if let tab = (object as? any RestorableTabs)?.selectedTab.flatMap(reference) {
      encoder.encodeReference(to: tab, forKey: BuiltInKey.selectedTab)
    }
    if let list = object as? any RestorableList { encode(list, with: encoder) }
    if let offset = (object as? any RestorableScrolling)?.contentOffset {
      encoder.encode([offset.x, offset.y], forKey: BuiltInKey.offset)
    }
    if let range = (object as? any RestorableTextSelection)?.selectedTextRange {
      encoder.encode([range.lowerBound, range.upperBound], forKey: BuiltInKey.textSelection)
    }
  }

  private static func encode(_ list: any RestorableList, with encoder: KeyedEncoder) {
    if let model = list.modelAssociation {
      func identifier(_ path: IndexPath) -> String? {
        model.modelIdentifierForElement(at: path, in: list)
      }
      encoder.encode(
        list.selectedIndexPaths.compactMap(identifier), forKey: BuiltInKey.selectedElements)
      encoder.encode(
        list.firstVisibleIndexPath.flatMap(identifier), forKey: BuiltInKey.firstVisibleElement)
    } else {
      encoder.encode(list.selectedIndexPaths.map(Array.init), forKey: BuiltInKey.selectedIndexPaths)
      encoder.encode(
        list.firstVisibleIndexPath.map(Array.init), forKey: BuiltInKey.firstVisibleIndexPath)
    }
  }
}

// MARK: - Restoring

extension BuiltInState {
  /// The record of the tab that was selected.
  func selectedTab() throws(ArchiveError) -> UInt64? {
    try values.reference(forKey: BuiltInKey.selectedTab)
  }

  /// Sets the properties that need the object's content: the selections.
  func restoreAfterDecoding(_ object: any StateRestoring) throws(ArchiveError) {
    if let list = object as? any RestorableList {
      let elements = try values.decodeIfPresent([String].self, forKey: BuiltInKey.selectedElements)
      let paths = try values.decodeIfPresent([[Int]].self, forKey: BuiltInKey.selectedIndexPaths)
      if let selected = elements.map({ $0.compactMap { row(of: $0, in: list) } })
        ?? paths.map({ $0.compactMap { row(at: $0, in: list) } })
      {
        list.selectedIndexPaths = selected
      }
    }
    if let text = object as? any RestorableTextSelection,
      let bounds = try values.decodeIfPresent([Int].self, forKey: BuiltInKey.textSelection)
    {
      let fits =
        bounds.count == 2 && 0 <= bounds[0] && bounds[0] <= bounds[1]
        && bounds[1] <= text.textLength
      text.selectedTextRange = fits ? bounds[0]..<bounds[1] : nil
    }
  }

  /// Sets the properties that need the object's layout: the scroll positions.
  func restoreAfterLayout(_ object: any StateRestoring) throws(ArchiveError) {
    if let list = object as? any RestorableList {
      let element = try values.decodeIfPresent(String.self, forKey: BuiltInKey.firstVisibleElement)
      let path = try values.decodeIfPresent([Int].self, forKey: BuiltInKey.firstVisibleIndexPath)
      if let first = element.flatMap({ row(of: $0, in: list) })
        ?? path.flatMap({ row(at: $0, in: list) })
      {
        list.firstVisibleIndexPath = first
      }
    }
    if let scrolling = object as? any RestorableScrolling,
      let offset = try values.decodeIfPresent([Double].self, forKey: BuiltInKey.offset),
      offset.count == 2
    {
      scrolling.contentOffset = ScrollOffset(x: offset[0], y: offset[1])
        .clamped(to: scrolling.maximumContentOffset)
    }
  }

  private func row(of identifier: String, in list: any RestorableList) -> IndexPath? {
    list.modelAssociation?.indexPathForElement(withModelIdentifier: identifier, in: list)
  }

  private func row(at position: [Int], in list: any RestorableList) -> IndexPath? {
    let path = IndexPath(indexes: position)
    return list.hasElement(at: path) ? path : nil
  }
}
