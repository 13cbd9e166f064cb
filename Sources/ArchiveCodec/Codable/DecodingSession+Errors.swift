extension DecodingSession {
  /// The error for callers of Codable: a DecodingError with the coding path.
  func decodingError(_ error: ArchiveError, _ type: Any.Type, _ reader: ValueReader) -> any Error {
    guard let mismatch = TypeMismatch(error) else {
      return DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath(to: reader.offset), debugDescription: error.description,
          underlyingError: error))
    }
    return decodingError(mismatch, type, reader)
  }

  /// The error for a type that no value of this kind can have.
  func decodingError(
    ofKind error: ArchiveError, _ type: Any.Type, _ reader: ValueReader
  ) -> any Error {
    // Whether a container fits a collection type depends on its elements, too, so that is not remembered.
    if let mismatch = TypeMismatch(error),
      !(reader.header.isContainer && type is any CountsMemory.Type)
    {
      mismatches.add(mismatch, type, reader.header)
    }
    return decodingError(error, type, reader)
  }

  func decodingError(
    _ mismatch: TypeMismatch, _ type: Any.Type, _ reader: ValueReader
  ) -> any Error {
    let context = DecodingError.Context(
      codingPath: codingPath(to: reader.offset), debugDescription: mismatch.subject,
      underlyingError: mismatch.underlying)
    return reader.isNull
      ? DecodingError.valueNotFound(type, context) : DecodingError.typeMismatch(type, context)
  }

  func context(at offset: Int, _ description: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath(to: offset), debugDescription: description)
  }

  func codingPath(to target: Int) -> [any CodingKey] { paths.path(to: target) }

  func name(of key: ValueKey) -> String {
    let bytes = bytes
    return bytes.span.extracting(record).text(of: key, symbols.names)
  }
}
