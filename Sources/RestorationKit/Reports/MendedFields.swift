internal import ArchiveCodec

/// What of the state of an object is not what is stored.
struct MendedFields {
  let notes: [ReportNote]
  /// Whether all that is stored is in the state, and only fields were added.
  let isWhole: Bool

  /// Nil if the state is what is stored.
  init?<Value>(_ value: MendedValue<Value>) {
    guard !value.replaced.isEmpty || !value.added.isEmpty else { return nil }
    let added = value.added.map { $0.joined(separator: ".") }
    notes =
      value.replaced.map { .fieldReplaced(key: $0.field, $0.error.reason) }
      + (added.isEmpty ? [] : [.missingFields(added)])
    isWhole = value.isWhole
  }
}
