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
  /// The kind and the path under which an object is saved.
  struct Place: Hashable {
    let kind: ElementKind
    let path: RestorationPath
  }

  struct Known {
    let fingerprint: RecordFingerprint
    var since: Date
  }

  /// The values of one object, by the keys that lead to them.
  final class Values {
    fileprivate(set) var known: [[String]: Known]
    fileprivate(set) var place: Place
    /// The last walk through everything that met the values.
    fileprivate var walk: UInt64

    fileprivate init(_ known: [[String]: Known], at place: Place, walk: UInt64) {
      (self.known, self.place, self.walk) = (known, place, walk)
    }
  }

  private var objects = WeakTable<Values>()
  private var places: [Place: Values] = [:]
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
    for values in places.values {
      for keys in values.known.keys { values.known[keys]?.since -= setBack }
    }
    self.newest = now
    return setBack
  }

  /// Notes that there are values that end although none is known here, or a time that somebody else
  /// has seen.
  func see(_ time: Date) { newest = clock(at: time) }

  // MARK: Values

  /// The values that are known of an object, or else of its place, unless another object with values
  /// has left that place and has taken them along.
  func values(
    of object: (any StateRestoring)?, at place: Place, unlessLeft left: Set<Place> = []
  ) -> [[String]: Known] {
    if let object, let values = objects[object], values.walk >= endedWalk { return values.known }
    return left.contains(place) ? [:] : places[place]?.known ?? [:]
  }

  /// The place at which the values of an object are known; nil if there are none.
  func place(of object: any StateRestoring) -> Place? {
    objects[object].flatMap { places[$0.place] === $0 ? $0.place : nil }
  }

  /// Notes the values of an object; returns them, or nil if there are none.
  @discardableResult
  func set(
    _ known: [[String]: Known], of object: (any StateRestoring)?, at place: Place, clock: Date
  ) -> Values? {
    // An object that comes to the former place of this one has none of its values.
    if let before = object.flatMap({ objects[$0] }), places[before.place] === before {
      places[before.place] = nil
    }
    guard !known.isEmpty else {
      if let object { objects[object] = nil }
      places[place] = nil
      return nil
    }
    newest = max(newest ?? clock, clock)
    let values = Values(known, at: place, walk: walk)
    if let object { objects[object] = values }
    places[place] = values
    return values
  }

  /// Notes where an object is now: the object need not have been asked when an element above it got
  /// another place.
  func move(_ values: Values, to place: Place) {
    guard values.place != place else { return }
    if places[values.place] === values { places[values.place] = nil }
    values.place = place
    places[place] = values
  }

  /// Forgets the values of objects that are not stored any more; an object that has taken the place
  /// of one keeps its own.
  func forget(_ gone: [Values]) {
    for values in gone {
      values.known = [:]
      if places[values.place] === values { places[values.place] = nil }
    }
  }

  /// Notes that an object is there, and that its stored values are as before.
  func keep(_ object: any StateRestoring, at place: Place) {
    (objects[object] ?? places[place])?.walk = walk
  }

  /// Forgets all values, since nothing is stored any more.
  func forget() { (objects, places) = (WeakTable(), [:]) }

  func beginWalk() { walk += 1 }

  /// Forgets the values of objects that the walk has not met, or that encode none any more.
  ///
  /// The values of the application stay, since it is asked before the walk begins.
  func endWalk() {
    endedWalk = walk
    guard !places.isEmpty else { return }
    places = places.filter { $0.key.kind == .application || $0.value.walk == walk }
  }
}
