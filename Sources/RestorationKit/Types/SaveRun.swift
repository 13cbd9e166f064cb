/// The save that is under way.
struct SaveRun {
  /// Counts the walks through everything.
  private(set) var walk: UInt32 = 0
  private(set) var save: UInt32 = 0
  /// How many rows have a place.
  var placedCount = 0
  /// The rows whose stored records are those of other objects, which were at the same address
  /// before this save.
  var foreign: Set<RowNumber> = []
  /// The rows that lost their place in this save, and may have another.
  var loose: [RowNumber] = []

  mutating func beginSave() {
    save &+= 1
    (foreign, loose) = ([], [])
  }

  mutating func beginWalk() {
    walk &+= 1
    (loose, placedCount) = ([], 0)
  }
}
