internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The times at which values that end were stored first.
///
/// The table outlives the rows: a save that writes everything anew must not make a value younger. A
/// value is known by its object, wherever the object lies, and by its path, since another object
/// may have the path by now.
final class ValueAges {
  struct Known {
    let fingerprint: RecordFingerprint
    var since: Date
  }

  /// The values of one object, by the keys that lead to them.
  final class Values {
    fileprivate(set) var known: [[String]: Known]
    fileprivate(set) var element: ElementID
    /// The last walk through everything that met the values.
    fileprivate var walk: UInt64

    fileprivate init(_ known: [[String]: Known], at element: ElementID, walk: UInt64) {
      (self.known, self.element, self.walk) = (known, element, walk)
    }
  }

  private var objects = WeakTable<Values>()
  private var byElement: [ElementID: Values] = [:]
  private var walk: UInt64 = 0
  /// The last walk that came to its end.
  private var endedWalk: UInt64 = 0
  /// The newest time that was seen; nil as long as there is no value that ends.
  private var newest: Date?

  /// In seconds: while the clock is behind by no more than this, time stands still for values.
  private static let smallestSetBack: TimeInterval = 60

  var isEmpty: Bool { newest == nil }

  // MARK: Time

  /// The time by which values end: no earlier than any time that was seen.
  func clock(at now: Date) -> Date { max(now, newest ?? now) }

  /// Begins a save.
  ///
  /// When the clock was set back, nobody knows how much time has passed since. Each age goes on
  /// from what it was at the newest time that was seen, so no value lives longer than its duration
  /// counted from that time.
  ///
  /// - Returns: By how many seconds the clock was set back, and values became older by it; nil if
  ///   the clock was not set back.
  func beginSave(at now: Date) -> TimeInterval? {
    guard let newest else { return nil }
    let setBack = newest.timeIntervalSince(now)
    guard setBack > Self.smallestSetBack else {
      self.newest = max(newest, now)
      return nil
    }
    for values in byElement.values {
      for keys in values.known.keys { values.known[keys]?.since -= setBack }
    }
    self.newest = now
    return setBack
  }

  /// Notes that there are values that end although none is known here, or a time that somebody else
  /// has seen.
  func see(_ time: Date) { newest = clock(at: time) }

  // MARK: Values

  /// The values that are known of an object, or else of its element, unless another object with values
  /// has left that element and has taken them along.
  func values(
    of object: (any StateRestoring)?, at element: ElementID, unlessLeft left: Set<ElementID> = []
  ) -> [[String]: Known] {
    if let object, let values = objects[object], values.walk >= endedWalk { return values.known }
    return left.contains(element) ? [:] : byElement[element]?.known ?? [:]
  }

  /// The element at which the values of an object are known; nil if there are none.
  func element(of object: any StateRestoring) -> ElementID? {
    objects[object].flatMap { byElement[$0.element] === $0 ? $0.element : nil }
  }

  /// Notes the values of an object; returns them, or nil if there are none.
  @discardableResult
  func set(
    _ known: [[String]: Known], of object: (any StateRestoring)?, at element: ElementID, clock: Date
  ) -> Values? {
    // An object that comes to the former element of this one has none of its values.
    if let before = object.flatMap({ objects[$0] }), byElement[before.element] === before {
      byElement[before.element] = nil
    }
    guard !known.isEmpty else {
      if let object { objects[object] = nil }
      byElement[element] = nil
      return nil
    }
    newest = max(newest ?? clock, clock)
    let values = Values(known, at: element, walk: walk)
    if let object { objects[object] = values }
    byElement[element] = values
    return values
  }

  /// Notes where an object is now: the object need not have been asked when an element above it got
  /// another place.
  func move(_ values: Values, to element: ElementID) {
    guard values.element != element else { return }
    if byElement[values.element] === values { byElement[values.element] = nil }
    values.element = element
    byElement[element] = values
  }

  /// Forgets the values of objects that are not stored any more; an object that has taken the element
  /// of one keeps its own.
  func forget(_ gone: [Values]) {
    for values in gone {
      values.known = [:]
      if byElement[values.element] === values { byElement[values.element] = nil }
    }
  }

  /// Notes that an object is there, and that its stored values are as before.
  func keep(_ object: any StateRestoring, at element: ElementID) {
    (objects[object] ?? byElement[element])?.walk = walk
  }

  /// Forgets all values, since nothing is stored any more.
  func forget() { (objects, byElement) = (WeakTable(), [:]) }

  func beginWalk() { walk += 1 }

  /// Forgets the values of objects that the walk has not met, or that encode none any more.
  ///
  /// The values of the application stay, since it is asked before the walk begins.
  func endWalk() {
    endedWalk = walk
    guard !byElement.isEmpty else { return }
    byElement = byElement.filter { $0.key.kind == .application || $0.value.walk == walk }
  }
}
