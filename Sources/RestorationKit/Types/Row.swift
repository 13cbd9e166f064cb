internal import ArchiveCodec

/// One element of the trees that are saved: a node, a view, a registered object, or a kept element
/// whose object is not back.
struct Row {
  /// The findings of a walk about an element that it met.
  struct Meeting {
    enum Status: UInt8 {
      /// A reference reaches the element, which has no place yet.
      case unplaced
      /// The element has its place in the tree.
      case placed
      /// The element is left out with one above it, or in favour of another of its name; a
      /// reference may still give it a place.
      case excluded
    }

    /// The last walk through everything that met the element.
    var walk: UInt32 = 0
    /// The last save of changes that asks the element where it was; 0 if it has left there.
    var save: UInt32 = 0
    var status = Status.unplaced
    /// Whether the element came second under its identifier; a reference does not give it a place
    /// then.
    var isDuplicate = false
    /// Whether something that the element contains is left out or lies elsewhere.
    ///
    /// The record of the element changes by this, although its object need not know.
    var isIncomplete = false
    /// Whether the element had another name or sibling index at its place before.
    var hasMoved = false
    /// Whether the class or restoration class of the element had another name before.
    var isRenamed = false
  }

  /// How references reach an element.
  struct Reach {
    /// Whether only references reach the element.
    var isReferred = false
    /// Whether only references reach the element or one above it.
    var isBelowReference = false
    /// Whether something refers to the element, or has its place below the element by a reference.
    var isReferredTo = false
  }

  /// How saves hear that an object has changed.
  struct Hearing {
    /// Whether the object of the element says when it has changed.
    var isTracked: Bool
    /// Whether every save asks the element, although none asks the one above it.
    var isAskedAlone = false
    /// Whether the object of the element can mark the row as changed.
    var isRegistered = false
    /// Whether the object is held, so that saves see when another one is at its address.
    var isHeld = false

    init(_ type: TypeInfo?) { isTracked = type.map { $0.tracking != .always } ?? false }
  }

  /// The elements that lie directly below an element.
  struct Below {
    /// The contained nodes that have a place, in ``Rows/contents``.
    var children: Range<Int32> = 0..<0
    /// The views, in ``Rows/contents`` as well.
    var views: Range<Int32> = 0..<0
    var presented: RowNumber?

    var isEmpty: Bool { children.isEmpty && views.isEmpty && presented == nil }
  }

  /// The record of an element as it is stored.
  struct Stored {
    var fingerprint = RecordFingerprint.none
    /// Whether the fingerprint is that of what the object itself said, and not of a record that an
    /// earlier launch has stored.
    var isAsked = false
  }

  // In this order a row has few gaps in memory (benchmark: save nodes).
  var stored = Stored()
  /// The kind as which the element was met first; its place sets the kind as which it is saved.
  var kind: ElementKind
  /// Whether the row has no element, and waits for another one.
  var isFree = false
  var identifier = ""
  /// The class of the element's object; nil for an element that is not back.
  var type: TypeInfo?
  /// The address of the row's object.
  var identity: ObjectIdentifier?
  var reach = Reach()
  var hearing: Hearing
  var met = Meeting()
  /// The row above; nil for a root.
  var parent: RowNumber?
  var siblingIndex: Int32 = 0
  var below = Below()

  /// Whether the record of the element names others.
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

  /// Begins another walk for the row: the stored record is all that is known of the element.
  mutating func begin(_ kind: ElementKind, _ type: TypeInfo?, walk: UInt32) {
    self.kind = kind
    self.type = type
    hearing.isTracked = Hearing(type).isTracked
    hearing.isAskedAlone = false
    met.walk = walk
    met.status = .unplaced
    (met.isDuplicate, met.isIncomplete) = (false, false)
    // The stored record names the element that referred to this one and may contain it now, so
    // another record is no change of the object.
    if reach.isReferred { stored.isAsked = false }
    (reach.isReferred, reach.isReferredTo) = (false, false)
    parent = nil
    below = Below()
  }

  /// Notes that only references reach the element.
  mutating func refer() {
    reach = Reach(isReferred: true, isBelowReference: true, isReferredTo: true)
  }

  /// Gives the element its place.
  ///
  /// - Returns: Whether the stored record has another name, and only the address says that it is
  ///   that of this object.
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
