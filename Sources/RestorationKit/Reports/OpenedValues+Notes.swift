extension OpenedValues {
  /// What a report says of them.
  var notes: [ReportNote] {
    (expired.isEmpty ? [] : [.expiredValues(expired)])
      + (forgotten.isEmpty ? [] : [.forgottenSecrets(forgotten)])
      + (unreadable.isEmpty ? [] : [.unreadableValues(unreadable)])
  }
}
