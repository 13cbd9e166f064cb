internal import ArchiveCodec

/// The differences between the restored state of an object and its stored state.
struct MendedFields {
  private(set) var notes: [ReportNote]
  /// Whether a save would replace something of the stored state.
  private(set) var isReplaced: Bool

  /// Nil if the restored state is the stored one.
  init?<Value>(_ value: MendedValue<Value>) {
    guard !value.replaced.isEmpty || !value.added.isEmpty else { return nil }
    notes = value.replaced.map { .fieldReplaced(key: $0.field, $0.error.reason) }
    if !value.added.isEmpty {
      notes.append(.missingFields(value.added.map { $0.joined(separator: ".") }))
    }
    isReplaced = !value.isWhole
  }

  /// Adds the differences in other fields of the same object.
  mutating func add(_ other: MendedFields) {
    notes += other.notes
    isReplaced = isReplaced || other.isReplaced
  }
}
