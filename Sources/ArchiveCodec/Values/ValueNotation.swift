/// How a value is written in one line, in a test vector.
///
/// Each value has one notation and each notation one value, so two readers
/// agree if their lines are equal: numbers with a binary point and times are
/// bit patterns, text is ASCII with escapes, and a key that is not a symbol
/// says so.
struct ValueNotation {
  let bytes: [UInt8]
  let symbols: SymbolTable

  /// The value at an offset, and where the next one begins.
  func value(at offset: Int) throws(ArchiveError) -> (text: String, end: Int) {
    let header = try ValueReader(bytes.span, at: offset).header
    let payload = bytes[header.payload]
    let text =
      switch header.kind {
      case .null: "null"
      case .bool(let value): "\(value)"
      case .integer(let value): "\(value)"
      case .largeInteger(let value): "\(value)"
      case .float, .double, .date: "\(header.name)(\(hexadecimal(payload.reversed())))"
      case .uuid, .bytes: "\(header.name)(\(hexadecimal(payload)))"
      case .string: quoted(payload)
      case .url: "url(\(quoted(payload)))"
      case .recordReference(let record): "record(\(record))"
      case .localReference(let number): "object(\(number))"
      case .extension(let type): "extension(\(type), \(hexadecimal(payload)))"
      case .name: "name(\(header.key.map(key) ?? ""))"
      case .packedArray(let element): "\(element)[\(packed(header.payload, element))]"
      case .array: "[\(try elements(header.payload).joined(separator: ", "))]"
      case .map: "{\(try entries(header.payload).joined(separator: ", "))}"
      }
    return (text, header.payload.upperBound)
  }

  private func packed(_ payload: Range<Int>, _ element: PackedElement) -> String {
    let numbers =
      switch element {
      case .float, .double:
        stride(from: payload.lowerBound, to: payload.upperBound, by: element.byteCount)
          .map { hexadecimal(bytes[$0..<$0 + element.byteCount].reversed()) }
      default:
        integers(PackedIntegers(payload, element))
      }
    return numbers.joined(separator: ", ")
  }

  private func integers(_ integers: PackedIntegers) -> [String] {
    (0..<integers.count).map { index in
      switch integers[index, in: bytes.span] {
      case .largeInteger(let value): "\(value)"
      case .integer(let value): "\(value)"
      default: ""
      }
    }
  }

  private func elements(_ payload: Range<Int>) throws(ArchiveError) -> [String] {
    var texts: [String] = []
    var offset = payload.lowerBound
    while offset < payload.upperBound {
      let (text, end) = try value(at: offset)
      texts.append(text)
      offset = end
    }
    return texts
  }

  /// The objects of a record, from where its map ends.
  func objects(from offset: Int) throws(ArchiveError) -> [String] {
    var cursor = ByteCursor(bytes.span, from: offset, to: bytes.count)
    var texts: [String] = []
    while !cursor.isAtEnd {
      _ = try cursor.readByte(bytes.span)
      let name = key(try cursor.readKey(bytes.span))
      let version = try cursor.readVarint(bytes.span)
      let (text, end) = try value(at: cursor.offset)
      texts.append("\(name) \(version) \(text)")
      cursor.offset = end
    }
    return texts
  }

  private func key(_ key: ValueKey) -> String {
    switch key {
    case .symbol(let number): quoted(Array(symbols.names[Int(number)].utf8)[...])
    case .inline(let range): "inline " + quoted(bytes[range])
    }
  }

  private func entries(_ payload: Range<Int>) throws(ArchiveError) -> [String] {
    var cursor = ByteCursor(bytes.span, from: payload.lowerBound, to: payload.upperBound)
    var entries: [String] = []
    while !cursor.isAtEnd {
      let key = key(
        try cursor.readKey(bytes.span, limits: .standard, symbolCount: symbols.names.count))
      let (text, end) = try value(at: cursor.offset)
      entries.append("\(key): \(text)")
      cursor.offset = end
    }
    return entries
  }

  private func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  private func quoted(_ text: ArraySlice<UInt8>) -> String {
    let escaped = String(decoding: text, as: UTF8.self).unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case " "..."~": "\(scalar)"
      default: "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return "\"\(escaped.joined())\""
  }
}

extension Archive {
  /// All records in one line each, by identifier, after checking every byte.
  package func notation() throws(ArchiveError) -> [String] {
    var lines: [UInt64: String] = [:]
    try visitFrames { (identifier, read) throws(ArchiveError) in
      let frame = try read([])
      _ = try frame.decoder(symbols: history.symbols, limits: limits)
      let notation = ValueNotation(bytes: frame.bytes, symbols: history.symbols)
      let (map, end) = try notation.value(at: frame.mapOffset)
      lines[identifier] = (["\(identifier) \(map)"] + (try notation.objects(from: end)))
        .joined(separator: "; ")
    }
    return lines.sorted { $0.key < $1.key }.map(\.value)
  }
}
