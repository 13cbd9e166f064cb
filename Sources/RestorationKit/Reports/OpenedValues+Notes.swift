extension OpenedValues {
  /// The lines of a report about values that are absent.
  var notes: [ReportNote] {
    (expired.isEmpty ? [] : [.expiredValues(expired)])
      + (forgotten.isEmpty ? [] : [.forgottenSecrets(forgotten)])
      + (unreadable.isEmpty ? [] : [.unreadableValues(unreadable)])
  }
}
