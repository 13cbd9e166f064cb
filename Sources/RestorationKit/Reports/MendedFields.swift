internal import ArchiveCodec

/// What of the state of an object is not what is stored.
struct MendedFields {
  private(set) var notes: [ReportNote]
  /// Whether all that is stored is in the state, and only fields were added.
  private(set) var isWhole: Bool

  /// Nil if the state is what is stored.
  init?<Value>(_ value: MendedValue<Value>) {
    guard !value.replaced.isEmpty || !value.added.isEmpty else { return nil }
    let added = value.added.map { $0.joined(separator: ".") }
    notes =
      value.replaced.map { .fieldReplaced(key: $0.field, $0.error.reason) }
      + (added.isEmpty ? [] : [.missingFields(added)])
    isWhole = value.isWhole
  }

  init(notes: [ReportNote], isWhole: Bool) {
    (self.notes, self.isWhole) = (notes, isWhole)
  }

  /// One field of an object whose fields are stored apart.
  init(replacing field: String, _ error: any Error) {
    notes = [.fieldReplaced(key: field, error.reason)]
    isWhole = false
  }

  /// Adds what is said of another field of the same object.
  mutating func add(_ other: MendedFields) {
    notes += other.notes
    isWhole = isWhole && other.isWhole
  }
}
