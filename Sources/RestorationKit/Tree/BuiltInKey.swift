/// The keys of the values that the library writes for an element that conforms to one
/// of its protocols.
enum BuiltInKey {
  /// The container of these values in the body of an element, beside the values of its hook.
  static let container = "RestorationKit.builtIn"

  static let selectedTab = "selectedTab"
  static let selectedElements = "selectedElements"
  static let firstVisibleElement = "firstVisibleElement"
  static let selectedIndexPaths = "selectedIndexPaths"
  static let firstVisibleIndexPath = "firstVisibleIndexPath"
  static let offset = "offset"
  static let textSelection = "textSelection"

  /// The keys in the order in which they are encoded.
  static let all = [
    selectedTab, selectedElements, firstVisibleElement, selectedIndexPaths, firstVisibleIndexPath,
    offset, textSelection,
  ]
}
