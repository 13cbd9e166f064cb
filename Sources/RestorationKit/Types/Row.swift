internal import ArchiveCodec

/// One element of the trees that are saved: a node, a view, a registered object,
/// or what is kept of one that is not back.
struct Row {
  /// What a walk has found out about an element when it met it.
  struct Meeting {
    enum Status: UInt8 {
      /// It is referred to, and has no place yet.
      case unplaced
      /// It has its place in the tree.
      case placed
      /// It is left out with one above it, or in favour of another of its name; a
      /// reference may still give it a place.
      case excluded
    }

    /// The walk through everything that met it last.
    var walk: UInt32 = 0
    /// The save that asked it last.
    var save: UInt32 = 0
    var status = Status.unplaced
    /// Whether it came second under its identifier; a reference does not help it.
    var isDuplicate = false
    /// Whether something that it contains is left out or lies elsewhere, which it need not
    /// know although it changes its record.
    var isIncomplete = false
    /// Whether it had another name when it got its place before.
    var hasMoved = false
    /// Whether its class or restoration class was called otherwise before.
    var isRenamed = false
  }

  /// How references reach an element.
  struct Reach {
    /// Whether only references reach it.
    var isReferred = false
    /// Whether only references reach it or one above it.
    var isBelowReference = false
    /// Whether somebody refers to it, or has its place below it by a reference.
    var isReferredTo = false
  }

  /// How saves hear that an object has changed.
  struct Hearing {
    /// Whether its object says when it has changed.
    var isTracked: Bool
    /// Whether every save asks it, although none asks the one above it.
    var isEntry = false
    /// Whether its object can mark it.
    var isRegistered = false
    /// Whether saves see that its object is another one at the same address.
    var isHeld = false
    /// Whether it is observed since it was asked last.
    var isObserved = false

    init(_ type: TypeInfo?) { isTracked = type.map { $0.tracking != .always } ?? false }
  }

  /// What lies directly below an element.
  struct Below {
    /// The contained nodes that have a place, in ``Rows/contents``.
    var children: Range<Int32> = 0..<0
    /// The views, there as well.
    var views: Range<Int32> = 0..<0
    var presented: RowNumber?

    var isEmpty: Bool { children.isEmpty && views.isEmpty && presented == nil }
  }

  /// What is stored as the record of an element.
  struct Stored {
    var fingerprint = RecordFingerprint.none
    /// What a record may hold at most is less.
    var byteCount: UInt32 = 0
    /// Whether the fingerprint is that of what the object said itself, and not what an
    /// earlier launch has stored.
    var isAsked = false
  }

  /// As what the element was met first; its place says as what it is saved.
  var kind: ElementKind
  /// The one above; nil for a root.
  var parent: RowNumber?
  var identifier = ""
  var siblingIndex: Int32 = 0
  var below = Below()
  var reach = Reach()
  var met = Meeting()
  var hearing: Hearing
  var stored = Stored()
  /// Its class; nil for an element that is not back.
  var type: TypeInfo?
  /// The object whose row it is.
  var identity: ObjectIdentifier?
  /// Whether it waits for another element.
  var isFree = false

  /// Whether its record names others.
  var isConnected: Bool { !below.isEmpty || reach.isReferred }

  init(
    _ kind: ElementKind, _ type: TypeInfo?, _ identity: ObjectIdentifier? = nil, walk: UInt32 = 0
  ) {
    self.kind = kind
    self.type = type
    self.identity = identity
    met.walk = walk
    hearing = Hearing(type)
  }

  /// Is met by another walk, of which nothing is known but whose record it has.
  mutating func begin(_ kind: ElementKind, _ type: TypeInfo?, walk: UInt32) {
    self.kind = kind
    self.type = type
    hearing.isTracked = Hearing(type).isTracked
    hearing.isEntry = false
    met.walk = walk
    met.status = .unplaced
    (met.isDuplicate, met.isIncomplete) = (false, false)
    // Its record names the one that refers to it, who may contain it now.
    if reach.isReferred { stored.isAsked = false }
    (reach.isReferred, reach.isReferredTo) = (false, false)
    parent = nil
    below = Below()
  }

  /// Is reached by references alone.
  mutating func refer() {
    reach = Reach(isReferred: true, isBelowReference: true, isReferredTo: true)
  }

  /// Gets its place.
  ///
  /// - Returns: Whether only its address says that it is whose record is stored, and that
  ///   under another name.
  mutating func place(
    _ kind: ElementKind, below parent: RowNumber?, _ identifier: String, siblingIndex: Int,
    isBelowReference: Bool
  ) -> Bool {
    let isRenamed = self.identifier != identifier
    met.hasMoved = isRenamed || self.siblingIndex != siblingIndex
    if met.hasMoved { stored.isAsked = false }
    let isDoubtful =
      isRenamed && !hearing.isHeld && stored.fingerprint != .none && !self.identifier.isEmpty
    reach.isBelowReference = isBelowReference
    self.kind = kind
    self.parent = parent
    self.identifier = identifier
    self.siblingIndex = Int32(truncatingIfNeeded: siblingIndex)
    met.status = .placed
    return isDoubtful
  }
}
