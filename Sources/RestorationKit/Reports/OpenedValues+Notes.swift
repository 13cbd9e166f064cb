extension OpenedValues {
  /// What a report says of them.
  var notes: [ReportNote] {
    (expired.isEmpty ? [] : [.expiredValues(expired)])
      + (unreadable.isEmpty ? [] : [.unreadableValues(unreadable)])
  }
}
