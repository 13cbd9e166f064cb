/// The save that is under way, or was the last one.
struct SaveRun {
  /// Counts the walks through everything.
  private(set) var walk: UInt32 = 0
  private(set) var save: UInt32 = 0
  /// The last save that was stored; 0 if none was.
  private var committed: UInt32 = 0
  /// Whether a save has begun of which nobody knows yet whether it is stored.
  var isUnderWay = false
  /// Whether the save before this one was not stored: then the names of rows are not those of their
  /// stored records, and a record is that of the object with its path.
  private(set) var followsFailure = false
  /// How many rows have a place.
  var placedCount = 0
  /// The rows whose stored records are those of other objects, which were at the same address
  /// before.
  var recordsOfOthers: Set<RowNumber> = []
  /// The rows that lost their place in this save, and may have another.
  var displaced: [RowNumber] = []

  /// The row that was compared last to find changes that nobody has said.
  var checkedIndex = 0

  /// Whether the last save was stored.
  var isCommitted: Bool { hasCommitted && committed == save }
  /// Whether a save was stored.
  var hasCommitted: Bool { committed > 0 }

  mutating func beginSave() {
    followsFailure = save > 0 && !isCommitted
    save &+= 1
    isUnderWay = true
    displaced = []
  }

  mutating func beginWalk() {
    walk &+= 1
    (displaced, placedCount) = ([], 0)
  }

  mutating func commit() {
    committed = save
    isUnderWay = false
    (recordsOfOthers, displaced) = ([], [])
  }
}
