internal import ArchiveCodec

/// What the rows know of a stored state besides its elements.
struct StoredWhole {
  /// The version of the archive that holds what the rows say; nil if none does.
  var version: ArchiveVersion?
  /// The rows of the roots, in the order in which they were given.
  var roots: [RowNumber] = []
  /// The rows of all roots that are stored, also of what only references reach.
  var storedRoots: [RowNumber] = []
  /// What the classes that are saved were called before.
  var formerNames: [String: [String]] = [:]
  /// What is stored of the application, but for the facts of the save.
  var application: [RecordFingerprint] = []
  /// The size of that in bytes.
  var applicationByteCount = 0
  var tree = RecordFingerprint.none
  /// Whether all that somebody contains or refers to has its place and its state.
  var isRegular = false
  /// How often something was registered before the last walk through everything.
  var registrationCount = 0

  mutating func beginWalk() {
    (roots, storedRoots, formerNames) = ([], [], [:])
    isRegular = true
  }
}

/// Who refers to rows that nothing contains.
struct RowReferences {
  /// Of each row that refers to what only references reach, to what; nil is the application.
  var all: [RowNumber?: Set<RowNumber>] = [:]
  /// To what the application referred in the save before this one.
  var ofApplicationBefore: Set<RowNumber> = []
  /// The objects that scope others and had no place when these got theirs.
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
