extension Encoder {
  /// Writes a sentence for people beside the values for programs; decoding ignores it.
  func encodeReason(_ reason: String) throws {
    var container = container(keyedBy: ReasonKey.self)
    try container.encode(reason, forKey: .reason)
  }
}

private enum ReasonKey: CodingKey {
  case reason
}
