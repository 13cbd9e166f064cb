public import RestorationFoundation

/// A piece of a record's content, for a tool that does not know the encoded types.
///
/// ``KeyedDecoder/forEachToken(_:)`` gives the tokens in stored order.
public enum ArchiveToken: Hashable, Sendable {
  /// The key of a record or container; its value follows.
  case key(String)

  /// A container begins: keys, each followed by its value, up to ``endContainer``.
  case beginContainer
  /// The container that began last ends.
  case endContainer
  /// An array begins: values up to ``endArray``.
  case beginArray
  /// The array that began last ends.
  case endArray

  /// No value.
  case null
  /// A Boolean.
  case bool(Bool)
  /// An integer that fits into 64 bits with a sign.
  case integer(Int64)
  /// An integer over `Int64.max`.
  case largeInteger(UInt64)
  /// A number of 32 bits.
  case float(Float)
  /// A number of 64 bits.
  case double(Double)
  /// A date.
  case date(Date)
  /// A UUID.
  case uuid(UUID)
  /// A URL, as it was written.
  case url(String)
  /// A text.
  case string(String)
  /// Bytes.
  case bytes([UInt8])
  /// A text that is stored like a key.
  case name(String)
  /// The identifier of the record that a reference names; the record need not exist.
  case record(UInt64)
  /// A value of a type that only a newer version knows.
  case unknown(type: UInt64)
}

extension KeyedDecoder {
  /// Gives all keys and values of any type, in stored order.
  ///
  /// An array of numbers is given as any other array.
  ///
  ///     try record.forEachToken { token in
  ///       if case .key(let name) = token { names.insert(name) }
  ///     }
  ///
  /// - Parameter body: Takes a token; an error of it ends the reading.
  /// - Throws: The errors of `body`. ``ArchiveError`` with `malformed` cannot come from
  ///   a record that was opened.
  /// - Complexity: O(*n*) in the size of the record; no recursion. Memory for the
  ///   open containers and for one value.
  public func forEachToken(_ body: (ArchiveToken) throws -> Void) throws {
    let stored = block.bytes
    let bytes = stored.span.extracting(record)
    var walk = ValueWalk(entries.payload, isMap: true)
    while let step = try walk.next(in: bytes) {
      guard case .value(let value, let key) = step else {
        if case .end(let isMap) = step { try body(isMap ? .endContainer : .endArray) }
        continue
      }
      if let key { try body(.key(text(of: key))) }
      switch value.header.kind {
      case .map: try body(.beginContainer)
      case .array: try body(.beginArray)
      case .packedArray:
        try body(.beginArray)
        for index in 0..<value.elementCount {
          guard let element = value.packedElement(index, in: bytes) else { break }
          try body(try token(of: element, in: bytes))
        }
        try body(.endArray)
      default: try body(try token(of: value, in: bytes))
      }
    }
  }

  private func token(
    of value: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> ArchiveToken {
    switch value.header.kind {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .largeInteger(let value): .largeInteger(value)
    case .float: .float(try Float.read(from: value, in: bytes))
    case .double: .double(try Double.read(from: value, in: bytes))
    case .date: .date(try Date.read(from: value, in: bytes))
    case .uuid: .uuid(try UUID.read(from: value, in: bytes))
    case .url: .url(bytes.text(value.header.payload))
    case .string: .string(try String.read(from: value, in: bytes))
    case .bytes: .bytes(value.header.payload.map { bytes[$0] })
    case .name: .name(value.header.key.map(text(of:)) ?? "")
    case .recordReference(let record): .record(record)
    case .extension(let type): .unknown(type: type)
    // Containers have tokens for their beginnings and ends instead.
    case .array, .map, .packedArray: .null
    }
  }
}
