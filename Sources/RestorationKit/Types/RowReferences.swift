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
