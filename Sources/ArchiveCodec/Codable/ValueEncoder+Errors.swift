extension ValueEncoder {
  func checkFailure() throws {
    if writer.hasFailed, let failure = writer.failure { throw failure.error }
  }

  /// The error for callers of Codable: an EncodingError with the coding path.
  ///
  /// An error that comes from further inside, or from the value, is passed on.
  func encodingError(_ error: any Error, _ value: Any, at key: (any CodingKey)? = nil) -> any Error
  {
    guard let error = error as? ArchiveError else { return error }
    return EncodingError.invalidValue(
      value,
      EncodingError.Context(
        codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: error.description,
        underlyingError: error))
  }

  func misuse(_ use: String) -> any Error {
    EncodingError.invalidValue(
      (),
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription: "A value was encoded \(use), but its encoder cannot be used so any more."
          + " Encode each value in one kind of container, and during encode(to:)."))
  }
}
