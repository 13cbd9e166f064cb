internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// When the values that are stored for some time only were stored first.
///
/// It outlives the rows: a save that writes everything anew must not make a value
/// younger. A value is known by its object, wherever that lies, and by its path, since
/// another object may be there.
final class ValueAges {
  /// Where an object is saved.
  struct Place: Hashable {
    let kind: ElementKind
    let path: RestorationPath
  }

  struct Known {
    let fingerprint: RecordFingerprint
    var since: Date
  }

  /// Those of one object, by the keys that lead to them.
  private final class Values {
    var known: [[String]: Known]
    /// The walk through everything that met them last.
    var walk: UInt64

    init(_ known: [[String]: Known], walk: UInt64) {
      (self.known, self.walk) = (known, walk)
    }
  }

  private var objects = WeakTable<Values>()
  private var places: [Place: Values] = [:]
  private var walk: UInt64 = 0
  /// The last one that came to its end.
  private var endedWalk: UInt64 = 0
  /// The newest time that was seen; nil as long as there is no value that ends.
  private var newest: Date?

  /// A clock that was set back by less stands still for so long.
  private static let smallestSetBack: TimeInterval = 60

  var isEmpty: Bool { newest == nil }

  // MARK: Time

  /// The time by which values end: no earlier than any that was seen.
  func clock(at now: Date) -> Date { max(now, newest ?? now) }

  /// Begins a save.
  ///
  /// Where the clock was set back, nobody knows how much time has passed since. Ages go
  /// on from those that were seen then, so no value lives longer than its duration
  /// counted from the newest time that was seen.
  ///
  /// - Returns: Whether values have other ages by this clock.
  func beginSave(at now: Date) -> Bool {
    guard let newest else { return false }
    let setBack = newest.timeIntervalSince(now)
    guard setBack > Self.smallestSetBack else {
      self.newest = max(newest, now)
      return false
    }
    for values in places.values {
      for keys in values.known.keys { values.known[keys]?.since -= setBack }
    }
    self.newest = now
    return true
  }

  // MARK: Values

  func values(of object: (any StateRestoring)?, at place: Place) -> [[String]: Known] {
    if let object, let values = objects[object], values.walk >= endedWalk { return values.known }
    return places[place]?.known ?? [:]
  }

  func set(
    _ known: [[String]: Known], of object: (any StateRestoring)?, at place: Place, clock: Date
  ) {
    guard !known.isEmpty else {
      if let object { objects[object] = nil }
      places[place] = nil
      return
    }
    newest = max(newest ?? clock, clock)
    let values = Values(known, walk: walk)
    if let object { objects[object] = values }
    places[place] = values
  }

  /// Says that an object is there, and what is stored of it is as before.
  func keep(_ object: any StateRestoring, at place: Place) {
    (objects[object] ?? places[place])?.walk = walk
  }

  /// Forgets all, since nothing is stored any more.
  func forget() { (objects, places) = (WeakTable(), [:]) }

  /// Begins a walk through everything.
  func beginWalk() { walk += 1 }

  /// Forgets those of objects that the walk has not met, or that encode none any more;
  /// the application is asked before it begins.
  func endWalk() {
    endedWalk = walk
    guard !places.isEmpty else { return }
    places = places.filter { $0.key.kind == .application || $0.value.walk == walk }
  }
}

/// What saves must know of the values with a sensitivity in the record of one row.
struct RowSensitivity {
  /// When the first of them ends.
  var end: Date?
  /// Those of the secrets.
  var subkeys: [UInt64] = []
}
