/// A content that is larger than the place where it is shown.
///
/// A node or a view conforms. Its offset is saved, and set after layout, moved
/// into the content that is there by then. The units are the conformer's own.
public protocol RestorableScrolling: RestorationAbility {
  /// Where the visible part begins.
  var contentOffset: ScrollOffset { get set }

  /// The largest offset that shows something; asked after layout.
  var maximumContentOffset: ScrollOffset { get }
}

/// A distance from the beginning of the content.
public struct ScrollOffset: Hashable, Sendable {
  /// To the right.
  public var x: Double

  /// Downwards.
  public var y: Double

  /// Creates an offset.
  ///
  /// - Parameters:
  ///   - x: To the right.
  ///   - y: Downwards.
  public init(x: Double = 0, y: Double = 0) {
    self.x = x
    self.y = y
  }

  /// The nearest offset from zero to a largest one; a coordinate that is NaN becomes zero.
  func clamped(to largest: ScrollOffset) -> ScrollOffset {
    func clamp(_ value: Double, _ limit: Double) -> Double {
      value.isNaN ? 0 : max(0, min(value, limit))
    }
    return ScrollOffset(x: clamp(x, largest.x), y: clamp(y, largest.y))
  }
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
