/// One element of the trees that are saved: a node, a view, a registered object,
/// or what is kept of one that is not back.
struct Row {
  /// What has become of it in the walk so far.
  enum Status: UInt8 {
    /// It is referred to, and has no place yet.
    case unplaced
    /// It has its place in the tree.
    case placed
    /// It is left out with one above it, or in favour of another of its name; a
    /// reference may still give it a place.
    case excluded
  }

  /// As what it was met first; its place says as what it is saved.
  var kind: ElementKind
  var status = Status.unplaced
  /// Whether it came second under its identifier; a reference does not help it.
  var isDuplicate = false
  /// The one above; nil for a root.
  var parent: RowNumber?
  var siblingIndex: Int32 = 0
  var identifier = ""
  /// The contained nodes that have a place, in ``Rows/contents``.
  var children: Range<Int32> = 0..<0
  var presented: RowNumber?
  var outcome = PreservationReport.NodeOutcome.saved
  /// Its class; nil for what is not back.
  let type: TypeInfo?

  init(_ kind: ElementKind, _ type: TypeInfo?) {
    self.kind = kind
    self.type = type
  }
}
