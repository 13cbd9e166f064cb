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
  /// The size of the application's record without the facts of the save, in bytes.
  var applicationByteCount = 0
  var tree = RecordFingerprint.none
  /// Whether everything that is contained or referred to has its place and its state.
  var isRegular = false
  /// How often something was registered before the last walk through everything.
  var registrationCount = 0

  mutating func beginWalk() {
    (roots, storedRoots, formerNames) = ([], [], [:])
    isRegular = true
  }
}

/// The references to rows that nothing contains.
struct RowReferences {
  /// The rows that only references reach, by the row that refers to them; nil is the application.
  var all: [RowNumber?: Set<RowNumber>] = [:]
  /// The rows to which the application referred in the save before this one.
  var ofApplicationBefore: Set<RowNumber> = []
  /// The objects that scope other objects and had no place when the others got theirs.
  var missingScopes: Set<ObjectIdentifier> = []

  mutating func beginSave() { ofApplicationBefore = all.removeValue(forKey: nil) ?? [] }
}

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
