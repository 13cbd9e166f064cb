internal import ArchiveCodec

/// The differences between the restored state of an object and its stored state.
struct MendedFields {
  private(set) var notes: [ReportNote]
  /// Whether the whole stored state was restored, and fields were only added.
  private(set) var isWhole: Bool
  /// The fingerprints of stored fields that go on being stored as they are until the app sets them.
  private(set) var stored: Set<RecordFingerprint> = []
  /// Whether something of the stored state would be replaced by a save.
  private(set) var isReplaced = false

  /// Nil if the restored state is the stored one.
  init?<Value>(_ value: MendedValue<Value>) {
    guard !value.replaced.isEmpty || !value.added.isEmpty else { return nil }
    let added = value.added.map { $0.joined(separator: ".") }
    notes =
      value.replaced.map { .fieldReplaced(key: $0.field, $0.error.reason) }
      + (added.isEmpty ? [] : [.missingFields(added)])
    isWhole = value.isWhole
    isReplaced = !isWhole
  }

  init(notes: [ReportNote], isWhole: Bool) {
    (self.notes, self.isWhole, isReplaced) = (notes, isWhole, !isWhole)
  }

  /// The difference in one field of an object whose fields are stored apart.
  init(replacing field: String, _ error: any Error) {
    self.init(notes: [.fieldReplaced(key: field, error.reason)], isWhole: false)
  }

  /// Notes that the field goes on being stored as it is.
  mutating func keep(_ content: ValueContent) {
    stored.insert(content.fingerprint)
    isReplaced = false
  }

  /// Adds the differences in other fields of the same object.
  mutating func add(_ other: MendedFields) {
    notes += other.notes
    isWhole = isWhole && other.isWhole
    isReplaced = isReplaced || other.isReplaced
    stored.formUnion(other.stored)
  }
}
