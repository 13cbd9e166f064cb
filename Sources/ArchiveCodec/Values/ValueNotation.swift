/// How a value is written in one line, in a test vector.
///
/// Each value has one notation and each notation one value, so two readers
/// agree if their lines are equal: numbers with a binary point and times are
/// bit patterns, text is ASCII with escapes, and a key that is not a symbol
/// says so.
extension ValueReader {
  func notation(symbols: SymbolTable) throws(ArchiveError) -> String {
    switch header.kind {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .largeInteger(let value): "\(value)"
    case .float, .double, .date: "\(header.name)(\(hexadecimal(bytes[header.payload].reversed())))"
    case .uuid, .bytes: "\(header.name)(\(hexadecimal(bytes[header.payload])))"
    case .string: quoted(bytes[header.payload])
    case .url: "url(\(quoted(bytes[header.payload])))"
    case .recordReference(let record): "record(\(record))"
    case .packedArray(let element): "\(element)[\(packedNotation(element))]"
    case .array: "[\(try elementsNotation(symbols).joined(separator: ", "))]"
    case .map: "{\(try entriesNotation(symbols).joined(separator: ", "))}"
    }
  }

  private func packedNotation(_ element: PackedElement) -> String {
    let numbers =
      switch element {
      case .float, .double:
        stride(
          from: header.payload.lowerBound, to: header.payload.upperBound, by: element.byteCount
        )
        .map { start in hexadecimal(bytes[start..<start + element.byteCount].reversed()) }
      default:
        (0..<header.count).map { index in
          switch PackedIntegers(header.payload, element)[index, in: bytes.span] {
          case .largeInteger(let value): "\(value)"
          case .integer(let value): "\(value)"
          default: ""
          }
        }
      }
    return numbers.joined(separator: ", ")
  }

  private func elementsNotation(_ symbols: SymbolTable) throws(ArchiveError) -> [String] {
    try readElements { element throws(ArchiveError) in try element.notation(symbols: symbols) }
  }

  private func entriesNotation(_ symbols: SymbolTable) throws(ArchiveError) -> [String] {
    var reader = ByteReader(
      bytes, from: header.payload.lowerBound, to: header.payload.upperBound)
    var entries: [String] = []
    while !reader.isAtEnd {
      let key =
        switch try reader.readKey(limits: .standard, symbolCount: symbols.names.count) {
        case .symbol(let number): quoted(Array(symbols.names[Int(number)].utf8)[...])
        case .inline(let range): "inline " + quoted(bytes[range])
        }
      let value = try ValueReader(bytes, at: reader.offset)
      entries.append("\(key): \(try value.notation(symbols: symbols))")
      reader.offset = value.header.payload.upperBound
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
      let frame = try read()
      _ = try frame.decoder(symbols: history.symbols, limits: limits)
      let map = try ValueReader(frame.bytes, at: frame.mapOffset)
      lines[identifier] = "\(identifier) \(try map.notation(symbols: history.symbols))"
    }
    return lines.sorted { $0.key < $1.key }.map(\.value)
  }
}
