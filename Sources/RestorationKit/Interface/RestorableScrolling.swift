/// A content that is larger than the place where it is shown.
///
/// A node or a view conforms. Its offset is saved, and set after layout, moved
/// into the content that is there by then. The units are the conformer's own.
public protocol RestorableScrolling: RestorationAbility {
  /// Where the visible part begins, to the right and downwards from the beginning of the content.
  var contentOffset: (x: Double, y: Double) { get set }

  /// The largest offset that shows something; asked after layout.
  var maximumContentOffset: (x: Double, y: Double) { get }
}

/// A text with a selection, or with an insertion point, which is an empty one.
///
/// A node or a view conforms; the selection is saved, and set after the object's own
/// decoding. If the saved selection does not fit the text by then, nothing is selected.
public protocol RestorableTextSelection: RestorationAbility {
  /// The selected part; nil if nothing is. The units are the conformer's own.
  var selectedTextRange: Range<Int>? { get set }

  /// How long the text is, in the units of ``selectedTextRange``.
  var textLength: Int { get }
}
