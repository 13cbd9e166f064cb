/// The objects that say when they change, or that saves ask without asking the objects above them.
struct HeardObjects {
  struct WeakObject {
    weak var object: (any StateRestoring)?
  }

  let changes: ChangedRows
  /// How many objects say when they change.
  var trackedCount = 0
  /// The held objects, by the indices of their rows.
  var objects: [WeakObject] = []
  /// The rows that each save asks although it does not ask the rows above them.
  ///
  /// A row that has gone stays in the list until the next save of changes removes it.
  var askedAlone: [RowNumber] = []
  /// The rows that have said that they changed since the last save that is stored.
  var changed: Set<RowNumber> = []
  /// The rows whose objects could not say their state in the last save, so that the next one asks
  /// them again.
  var unsaid: Set<RowNumber> = []
  /// The hashes of what objects said last, with which a poll compares; nil if nobody polls.
  var said: LastSaid?

  private var observations: [RowNumber: Observations] = [:]

  init(_ changes: ChangedRows) { self.changes = changes }

  /// The object of a row that was held, if it is still there.
  func object(of number: RowNumber) -> (any StateRestoring)? {
    number.index < objects.count ? objects[number.index].object : nil
  }

  // MARK: Observation

  /// Begins to observe a part of the object of a row, and ends the observation that was there.
  mutating func observe(_ part: ObservedPart, of number: RowNumber) -> ObjectObservation {
    let observation = ObjectObservation()
    var both = observations[number] ?? Observations()
    let before: ObjectObservation?
    switch part {
    case .contents: (before, both.contents) = (both.contents, observation)
    case .state: (before, both.state) = (both.state, observation)
    }
    observations[number] = both
    before?.end()
    return observation
  }

  mutating func endObservation(of number: RowNumber) {
    guard !observations.isEmpty else { return }
    observations.removeValue(forKey: number)?.end()
  }

  mutating func endObservations() {
    for both in observations.values { both.end() }
    observations = [:]
  }
}

/// The observations of one object.
private struct Observations {
  var contents: ObjectObservation?
  var state: ObjectObservation?

  func end() {
    contents?.end()
    state?.end()
  }
}
