internal import ArchiveCodec
package import RestorationFoundation

extension Survey {
  // MARK: Claims

  /// Lets an object have an element that was kept; it has not read the body.
  mutating func claim(_ slot: Int32, by object: any StateRestoring) {
    // What lies below a kept element was not read, either.
    let above = taken.claims.isEmpty ? nil : taken.claims[document[slot].place.parent]
    guard let kept = document.kept.elements[slot] ?? above else { return }
    taken.claims[slot] = kept
    // An element that was left out is kept until its object says something else than at the restore.
    if document.kept.withheld[slot] != nil { return }
    edits.kept.elements[slot] = nil
    let saved = document.form(of: slot).className
    let isOwn = types.otherClass(of: object, types.info(of: object), than: saved) == nil
    edits.kept.withheld[slot] = Kept(
      reason: isOwn ? .notFound : .otherClass, form: document[slot].place.form,
      since: kept.since, byteCount: kept.byteCount)
  }

  // MARK: Forms

  /// Goes on after a hook threw: the stored body stays, and with it its form, which says how it is read.
  mutating func loseState(of slot: Int32) {
    let hasBody = places.body(of: slot) != .none
    let isWithheld = edits.kept.withheld[slot]?.reason.staysBeside == true
    places.notes.set(
      isWithheld ? .keptAsStored : hasBody ? .savedWithLastState : .savedWithoutState, slot)
    // What could not be encoded claims nothing. As long as its object is there, it is not old: what lies below
    // may have been stored since.
    if var kept = taken.claims[slot] {
      let day: TimeInterval = 86_400
      if let since = kept.since, conditions.now.timeIntervalSince(since) > day {
        kept.since = conditions.now
      }
      edits.kept.elements[slot] = kept
    }
    let form = places.isNew(slot) ? nil : document[slot].place.form
    setPlace(of: slot) { place in
      if hasBody { place.form = form ?? place.form } else { place.lacksState = true }
    }
  }

  /// Changes what the element above says of an element.
  mutating func setPlace(of slot: Int32, _ change: (inout Place) -> Void) {
    let before = places.place(of: slot)
    var place = before
    change(&place)
    guard place != before else { return }
    places.move(slot, to: place)
    touchContents(of: place.parent)
  }

  // MARK: Unread bodies

  /// Copies a stored body to a record of its own, since another takes its place.
  ///
  /// An error ends the save: without the copy, the body would be lost.
  mutating func copyReplaced(of slot: Int32) throws {
    guard let withheld = taken.replaced.take() else { return }
    // The object has decoded the one that it was given, and has written what that has become.
    if let given = withheld.given { drop([given], of: slot) }
    // What the object had is pending, or is what it says now.
    if withheld.replacesOwn { return }
    let bodies = edits.kept.bodies[slot, default: []]
    // A launch that leaves the element out again adds none.
    if withheld.reason == .leftOut, bodies.contains(where: { $0.reason == .leftOut }) { return }
    guard let body = try conditions.storedRecord(places[slot].bodyRecord) else { return }
    var unread = withheld
    // What was kept with all below it was counted so.
    unread.byteCount = body.byteCount
    if let most = conditions.policy.keptByteCount, body.byteCount > most {
      let since = withheld.since ?? conditions.now
      return places.notes.add(
        .keptStateDropped(since: since, byteCount: body.byteCount), slot)
    }
    // What lay below a kept element may have been stored long after that one was kept.
    (unread.id, unread.since) = (places.takeID(), conditions.now)
    if let kept = taken.claims[slot], !kept.reason.staysBeside {
      places.notes.add(entry(slot, .replaced))
    }
    try add(unread, body, to: slot)
  }

  /// Stores what objects said before they were given other bodies late.
  mutating func writePending() throws {
    let all = document.kept.pending.ordered { $0.key < $1.key }
    for (slot, pending) in all.flatMap({ slot, bodies in bodies.map { (slot, $0) } }) {
      let object = places.object(at: slot)
      let unread = Kept(
        id: places.takeID(), reason: .replaced,
        form: object.map { places.form(of: $0, types.info(of: $0), at: slot) }
          ?? document[slot].place.form,
        since: conditions.now, byteCount: pending.byteCount)
      try add(unread, pending, to: slot)
    }
  }

  private mutating func add(_ unread: Kept, _ body: KeyedDecoder, to slot: Int32) throws {
    var ids: [UInt64] = []
    try builder.append(record: unread.record) { encoder in
      try encoder.copyAll(from: body) { id in
        ids.append(id)
        return id
      }
    }
    taken.references[unread.id] = ids
    var bodies = edits.kept.bodies[slot, default: []] + [unread]
    // The first one stays, and so does the last.
    while bodies.count > Kept.largestBodyCount {
      leaving.insert(bodies.remove(at: bodies.count - 2).record)
    }
    edits.kept.bodies[slot] = bodies
  }

  /// Lets unread bodies of an element go.
  private mutating func drop(_ ids: Set<UInt64>, of slot: Int32) {
    leaving.formUnion(ids.map { $0 * 2 })
    let rest = edits.kept.bodies[slot, default: []].filter { !ids.contains($0.id) }
    edits.kept.bodies[slot] = rest.isEmpty ? nil : rest
  }

  // MARK: Bounds

  /// Lets go what was kept for longer than may be, or is more than may be.
  mutating func expireKept() {
    if edits.kept.isEmpty { return }
    let all = boundedParts()
    let excess = conditions.policy.excess(
      ofKept: all.map { ($0.since, $0.byteCount) }, at: conditions.now)
    var (gone, forgotten) = ([Int32: Set<UInt64>](), Set<Int32>())
    for (index, isExpired) in excess {
      let (slot, body, since, byteCount) = all[index]
      guard let body else {
        places.orphans.insert(slot)
        edits.kept.elements[slot] = nil
        touchContents(of: places.parent(of: slot))
        places.notes.add(entry(slot, .expired(since: since, byteCount: byteCount)))
        forgotten.formUnion(document.walk(from: slot))
        continue
      }
      // The object goes on with the one that it was given, which is not too old.
      if isExpired, document.kept.withheld[slot]?.given == body { continue }
      gone[slot, default: []].insert(body)
      places.notes.add(.keptStateDropped(since: since, byteCount: byteCount), slot)
    }
    for (slot, ids) in gone { drop(ids, of: slot) }
    if !forgotten.isEmpty { places.notes.forget(forgotten) }
  }

  /// A kept element, or an unread body of an element.
  private typealias BoundedPart = (slot: Int32, body: UInt64?, since: Date, byteCount: Int)

  /// What the bound is about: the oldest comes first, of one age what only references reach, then the
  /// largest, and then the one that is stored first.
  private func boundedParts() -> [BoundedPart] {
    // An element that was left out, and whose object is there, is not over any bound; nor is one that has
    // just been claimed.
    let unbounded = inStoredWindows
    let elements: [BoundedPart] = document.kept.elements.filter {
      document.kept.withheld[$0.key] == nil && taken.claims[$0.key] == nil
    }.map { ($0.key, nil, $0.value.since ?? conditions.now, $0.value.byteCount) }
    let bodies: [BoundedPart] = edits.kept.bodies.flatMap { slot, bodies in
      bodies.map { (slot, $0.id, $0.since ?? conditions.now, $0.byteCount) }
    }
    // Of the bodies of one element the first goes last.
    func order(_ part: BoundedPart) -> (Date, Int, Int, Int32, Int) {
      let bodies = part.body == nil ? [] : edits.kept.bodies[part.slot, default: []]
      guard let last = bodies.last, bodies[0].id == part.body else {
        let isReferred = part.body == nil && places.role(of: part.slot).livesByReferences
        return (part.since, isReferred ? 0 : 1, -part.byteCount, part.slot, 0)
      }
      return (last.since ?? conditions.now, 1, -last.byteCount, part.slot, 1)
    }
    let bounded = (elements + bodies).filter { !unbounded.contains($0.slot) }
    return bounded.ordered { order($0) < order($1) }
  }

  func entry(_ slot: Int32, _ outcome: ElementOutcome) -> ReportEntry {
    ReportEntry(slot, of: document, at: places.path(of: slot), outcome)
  }
}

extension StatePolicy {
  /// The first day of 2026.
  private static let earliest = Date(timeIntervalSince1970: 1_767_225_600)

  /// What goes of what is kept: first what was kept for longer than may be, then the oldest as long as
  /// all together has more bytes than may be.
  ///
  /// - Parameters:
  ///   - kept: Since when each is kept, and its bytes; the oldest comes first.
  ///   - now: The time of the save.
  /// - Returns: The indices of what goes, in order, and whether the age is the reason.
  package func excess(
    ofKept kept: [(since: Date, byteCount: Int)], at now: Date
  ) -> [(index: Int, isExpired: Bool)] {
    var byteCount = kept.reduce(0) { $0 + $1.byteCount }
    var gone: [(index: Int, isExpired: Bool)] = []
    for (index, item) in kept.enumerated() {
      // The date of a clock that was not set is older than any.
      let isDated = item.since > Self.earliest
      let isExpired = isDated && keptAge.map { now.timeIntervalSince(item.since) > $0 } ?? false
      let isTooMuch = keptByteCount.map { byteCount > $0 } ?? false
      guard isExpired || isTooMuch else { continue }
      byteCount -= item.byteCount
      gone.append((index, isExpired))
    }
    return gone
  }
}
