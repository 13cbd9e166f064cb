internal import ArchiveCodec

/// One element of the trees that are saved: a node, a view, a registered object,
/// or what is kept of one that is not back.
struct Row {
  /// What has become of it in the walk that met it.
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
  /// Whether only references reach it.
  private(set) var isReferred = false
  /// Whether only references reach it or one above it.
  private(set) var isBelowReference = false
  /// Whether somebody refers to it, or has its place below it by a reference.
  var isReferredTo = false
  /// Whether every save asks it, although none asks the one above it.
  var isEntry = false
  /// Whether its object says when it has changed.
  private(set) var isTracked: Bool
  /// Whether its object can mark it.
  var isRegistered = false
  /// Whether saves see that its object is another one at the same address.
  var isHeld = false
  /// Whether it is observed since it was asked last.
  var isObserved = false
  /// Whether it had another name when it got its place before.
  var hasMoved = false
  /// Whether its fingerprint is that of what it said itself, and not what an
  /// earlier launch has stored.
  var isAsked = false
  /// Whether something that it contains is left out or lies elsewhere, which it need not
  /// know although it changes its record.
  var isIncomplete = false
  /// Whether it waits for another element.
  var isFree = false
  /// Whether its class or restoration class was called otherwise before.
  var isRenamed = false
  /// The walk through everything that met it last.
  var walk: UInt32 = 0
  /// The save that asked it last.
  var save: UInt32 = 0
  /// The one above; nil for a root.
  var parent: RowNumber?
  var siblingIndex: Int32 = 0
  /// The size of its record; what a record may hold at most is less.
  var byteCount: UInt32 = 0
  var identifier = ""
  /// The contained nodes that have a place, in ``Rows/contents``.
  var children: Range<Int32> = 0..<0
  /// The views, there as well.
  var views: Range<Int32> = 0..<0
  var presented: RowNumber?
  /// Whether its record names others.
  var isConnected: Bool {
    !children.isEmpty || !views.isEmpty || presented != nil || isReferred
  }
  /// Its class; nil for what is not back.
  var type: TypeInfo?
  /// Whose row it is.
  var identity: ObjectIdentifier?
  /// What is stored as its record.
  var stored = RecordFingerprint.none

  init(
    _ kind: ElementKind, _ type: TypeInfo?, _ identity: ObjectIdentifier? = nil, walk: UInt32 = 0
  ) {
    self.kind = kind
    self.type = type
    self.identity = identity
    self.walk = walk
    isTracked = Self.isTracked(type)
  }

  private static func isTracked(_ type: TypeInfo?) -> Bool {
    type.map { $0.tracking != .always } ?? false
  }

  /// Is met by another walk, of which nothing is known but whose record it has.
  mutating func begin(_ kind: ElementKind, _ type: TypeInfo?, walk: UInt32) {
    self.kind = kind
    self.type = type
    isTracked = Self.isTracked(type)
    self.walk = walk
    status = .unplaced
    // Its record names the one that refers to it, who may contain it now.
    if isReferred { isAsked = false }
    (isDuplicate, isReferred, isReferredTo, isEntry) = (false, false, false, false)
    parent = nil
    (children, views, presented) = (0..<0, 0..<0, nil)
    isIncomplete = false
  }

  /// Is reached by references alone.
  mutating func refer() { (isReferred, isReferredTo, isBelowReference) = (true, true, true) }

  /// Gets its place.
  ///
  /// - Returns: Whether only its address says that it is whose record is stored, and that
  ///   under another name.
  mutating func place(
    _ kind: ElementKind, below parent: RowNumber?, _ identifier: String, siblingIndex: Int,
    isBelowReference: Bool
  ) -> Bool {
    let isRenamed = self.identifier != identifier
    hasMoved = isRenamed || self.siblingIndex != siblingIndex
    if hasMoved { isAsked = false }
    let isDoubtful =
      isRenamed && !isHeld && stored != .none && !self.identifier.isEmpty
    self.isBelowReference = isBelowReference
    self.kind = kind
    self.parent = parent
    self.identifier = identifier
    self.siblingIndex = Int32(truncatingIfNeeded: siblingIndex)
    status = .placed
    return isDoubtful
  }
}
