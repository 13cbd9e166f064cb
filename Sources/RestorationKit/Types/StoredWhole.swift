internal import ArchiveCodec

/// The parts of a stored state besides its elements, as far as the rows know them.
struct StoredWhole {
  /// The version of the archive that holds the records of the rows; nil if none does.
  var version: ArchiveVersion?
  /// The rows of the roots, in the order in which they were given.
  var roots: [RowNumber] = []
  /// The rows of all roots that are stored, also of elements that only references reach.
  var storedRoots: [RowNumber] = []
  /// The former names of the classes that are saved.
  var formerNames: [String: [String]] = [:]
  /// The fingerprints of the application's record, without the facts of the save.
  var application: [RecordFingerprint] = []
  var tree = RecordFingerprint.none
  /// Whether a save can write what differs alone: everything that is contained or referred to has
  /// its place and its state.
  var canDiff = false
  /// How often something was registered before the last walk through everything.
  var registrationCount = 0

  mutating func beginWalk() {
    (roots, storedRoots, formerNames) = ([], [], [:])
    canDiff = true
  }
}
