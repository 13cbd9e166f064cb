extension DecodingSession {
  /// What users of Codable expect: a DecodingError that says where.
  func decodingError(_ error: ArchiveError, _ type: Any.Type, _ reader: ValueReader) -> any Error {
    let context = DecodingError.Context(
      codingPath: codingPath(to: reader.offset), debugDescription: error.description,
      underlyingError: error)
    switch error.code {
    case .typeMismatch where reader.isNull: return DecodingError.valueNotFound(type, context)
    case .typeMismatch: return DecodingError.typeMismatch(type, context)
    default: return DecodingError.dataCorrupted(context)
    }
  }

  func context(at offset: Int, _ description: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath(to: offset), debugDescription: description)
  }

  func endOfArray(at offset: Int, _ index: Int) -> DecodingError.Context {
    DecodingError.Context(
      codingPath: codingPath(to: offset) + [IndexKey(index)],
      debugDescription: "The array has no more elements.")
  }

  /// The keys and indices on the way to the value that begins at the offset.
  ///
  /// - Complexity: O(*n*) in the size of the record; only for errors, and for
  ///   those who ask for a path.
  func codingPath(to target: Int) -> [any CodingKey] {
    var path = rootPath
    var reader = ByteReader(bytes, from: root)
    while reader.offset < target, let step = step(from: &reader, to: target) {
      path.append(step)
    }
    return path
  }

  /// The element of the value at the cursor in which the target lies; the
  /// cursor goes there.
  private func step(from reader: inout ByteReader, to target: Int) -> (any CodingKey)? {
    let bytes = bytes
    guard let value = try? ValueReader(bytes.span, at: reader.offset), target < value.end else {
      return nil
    }
    if let size = value.packedElementByteCount {
      reader.offset = target
      return IndexKey((target - value.header.payload.lowerBound) / size)
    }
    let isMap = value.header.kind == .map
    guard isMap || value.header.kind == .array else { return nil }
    reader.offset = value.header.payload.lowerBound
    for index in 0..<value.header.count {
      var key: any CodingKey = IndexKey(index)
      if isMap {
        guard let name = try? reader.readKey(limits: .standard, symbolCount: .max) else {
          return nil
        }
        key = NameKey(self.name(of: name))
      }
      let start = reader.offset
      guard (try? reader.readValueHeader()) != nil else { return nil }
      if target < reader.offset {
        reader.offset = start
        return key
      }
    }
    return nil
  }

  func name(of key: ValueKey) -> String {
    let bytes = bytes
    return switch key {
    case .symbol(let symbol): names[Int(symbol)]
    case .inline(let range): bytes.span.text(range)
    }
  }
}
