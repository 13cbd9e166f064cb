internal import ArchiveCodec

/// Which objects a save asks, and which rows have gone.
extension Rows {
  /// Counts the rows as changed whose objects have said so since they were asked.
  func takeChanges() {
    for number in hearing.changes.take() where number.index < rows.count {
      hearing.changed.insert(number)
    }
  }

  /// Holds the object of a row if saves ask the object without the row above it, or if the object
  /// says itself when it has changed.
  func hold(_ object: any StateRestoring, _ number: RowNumber) {
    let isNeeded = self[number].hearing.isTracked || !isReached(number)
    guard isNeeded || self[number].hearing.isHeld else { return }
    recognize(object, number)
    guard isNeeded else { return }
    if !self[number].hearing.isTracked {
      // A row that moves is held again, and is in the list already.
      if !self[number].hearing.isAskedAlone { hearing.askedAlone.append(number) }
      self[number].hearing.isAskedAlone = true
    } else if !self[number].hearing.isRegistered {
      hearing.trackedCount += 1
      self[number].hearing.isRegistered = true
      TrackedObjects.add(ObjectIdentifier(object), number, hearing.changes)
    }
  }

  /// Finds out whether the object of a row is the one that had it before.
  ///
  /// Most objects that say nothing of their changes are not held: a weak reference to an object
  /// takes longer than to ask the object.
  func recognize(_ object: any StateRestoring, _ number: RowNumber) {
    while hearing.objects.count <= number.index { hearing.objects.append(.init()) }
    if hearing.objects[number.index].object !== object {
      if self[number].hearing.isHeld { noteRecordOfAnother(number) }
      hearing.objects[number.index].object = object
      self[number].stored.isAsked = false
    }
    self[number].hearing.isHeld = true
  }

  /// Whether every save comes to a row from above.
  func isReached(_ number: RowNumber) -> Bool {
    guard !self[number].reach.isReferred else { return false }
    return self[number].parent.map { !self[$0].hearing.isTracked } ?? true
  }

  /// The object of a row that was held, if it is still there.
  func object(of number: RowNumber) -> (any StateRestoring)? {
    hearing.object(of: number)
  }

  func stopTracking(_ number: RowNumber) {
    hearing.endObservation(of: number)
    if self[number].hearing.isRegistered, let identity = self[number].identity {
      TrackedObjects.remove(CollectionOfOne(identity), hearing.changes)
      self[number].hearing.isRegistered = false
      hearing.trackedCount -= 1
    }
    if number.index < hearing.objects.count { hearing.objects[number.index].object = nil }
    self[number].hearing.isHeld = false
  }

  /// The rows that a save of changes asks first, each once: the rows whose objects said that they
  /// have changed or could not say their state, and the rows that each save asks without the rows above
  /// them.
  func rowsToAsk() -> [RowNumber] {
    hearing.askedAlone.removeAll { !self[$0].hearing.isAskedAlone || self[$0].met.walk != run.walk }
    takeChanges()
    defer { hearing.unsaid = [] }
    return hearing.changed.union(hearing.askedAlone).union(hearing.unsaid)
      .filter { self[$0].met.walk == run.walk && self[$0].met.status == .placed }
      .sorted { $0.index < $1.index }
  }

  // MARK: Leaving

  /// Takes away the place of a row and of all rows that have their place below it.
  func displace(_ top: RowNumber) {
    var stack = [top]
    while let number = stack.popLast() {
      guard self[number].met.status == .placed else { continue }
      stack += (contained(in: number) + views(of: number)).filter { self[$0].parent == number }
      forgetContents(of: number)
      findings.forgetNotes(of: number)
      unplace(number, .unplaced)
      self[number].reach.isBelowReference = false
      self[number].met.save = 0
      run.displaced.append(number)
    }
  }

  /// Forgets the contents of a row; the next save that asks its object finds out what the object
  /// contains then.
  func forgetContents(of number: RowNumber) {
    contents.forget(self[number].below.children)
    contents.forget(self[number].below.views)
    (self[number].below.children, self[number].below.views) = (0..<0, 0..<0)
    self[number].below.presented = nil
  }

  /// Takes away the place of a row that will get it again with all that is below it.
  func unplaceAlone(_ number: RowNumber) { unplace(number, .unplaced) }

  /// The rows whose elements are stored no more once a walk is stored.
  struct Gone {
    /// The rows that the walk has not met, or whose elements lost their place.
    var rows: [RowNumber] = []
    /// The rows that the walk has met, and that have no place; they stay, since something may refer
    /// to them.
    var unplaced: [RowNumber] = []

    var all: [RowNumber] { rows + unplaced }
  }

  /// The rows without a place after a walk through everything.
  func unplaced() -> Gone {
    var gone = Gone()
    for place in rows.indices where !rows[place].isFree {
      if rows[place].met.walk != run.walk {
        gone.rows.append(RowNumber(place))
      } else if rows[place].met.status != .placed {
        gone.unplaced.append(RowNumber(place))
      }
    }
    return gone
  }

  /// The rows that lost their place in a save of changes.
  func unplacedLoose() -> Gone {
    Gone(rows: run.displaced.filter { self[$0].met.status != .placed })
  }

  /// The stored records of rows.
  func storedRecords(of gone: Gone) -> [UInt64] {
    gone.all.filter { self[$0].stored.fingerprint != .none }.map(\.record)
  }

  /// Removes rows whose elements are stored no more.
  func remove(_ gone: Gone) {
    for number in gone.all {
      self[number].stored = Row.Stored()
    }
    for number in gone.rows where !self[number].isFree {
      stopTracking(number)
      if let identity = self[number].identity, numbers[identity] == number.index {
        numbers.remove(identity)
      }
      self[number].identity = nil
      self[number].hearing.isAskedAlone = false
      self[number].isFree = true
      self[number].met.walk = 0
      free.append(number)
    }
    if !kept.numbers.isEmpty { kept.numbers = kept.numbers.filter { !self[$0.value].isFree } }
  }
}
