package import ArchiveCodec

/// How a value is written in one line, in a test vector.
///
/// Each value has one notation and each notation one value, so two readers
/// agree if their lines are equal: numbers with a binary point and times are
/// bit patterns, text is ASCII with escapes, and a key that is not a symbol
/// says so.
extension ModelValue {
  /// Takes the names of the symbols, by number.
  package func notation(_ names: [String]) -> String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .float(let bits): "float(\(Self.hexadecimal(bits)))"
    case .double(let bits): "double(\(Self.hexadecimal(bits)))"
    case .date(let bits): "date(\(Self.hexadecimal(bits)))"
    case .uuid(let bytes): "uuid(\(Self.hexadecimal(bytes)))"
    case .bytes(let bytes): "bytes(\(Self.hexadecimal(bytes)))"
    case .string(let text): Self.quoted(text)
    case .url(let text): "url(\(Self.quoted(text)))"
    case .reference(let record): "record(\(record))"
    case .extension(let type, let bytes): "extension(\(type), \(Self.hexadecimal(bytes)))"
    case .name(let name): "name(\(name.notation(names)))"
    case .packedIntegers(let values): Self.packed(PackedElement.narrowest(of: values).name, values)
    case .packedFloats(let values): Self.packed("float", values.map(Self.hexadecimal))
    case .packedDoubles(let values): Self.packed("double", values.map(Self.hexadecimal))
    case .array(let elements): Self.packed("", elements.map { $0.notation(names) })
    case .map(let entries):
      "{"
        + entries.map { "\($0.key.notation(names)): \($0.value.notation(names))" }
        .joined(separator: ", ") + "}"
    }
  }

  private static func packed(_ name: String, _ elements: [some CustomStringConvertible]) -> String {
    "\(name)[\(elements.map(\.description).joined(separator: ", "))]"
  }

  private static func hexadecimal(_ bits: some FixedWidthInteger) -> String {
    hexadecimal(little(UInt64(bits), count: bits.bitWidth / 8).reversed())
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  fileprivate static func quoted(_ text: [UInt8]) -> String {
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

extension ModelValue.Key {
  fileprivate func notation(_ names: [String]) -> String {
    switch self {
    case .symbol(let number): ModelValue.quoted(Array(names[Int(number)].utf8))
    case .inline(let name): "inline " + ModelValue.quoted(name)
    }
  }
}

extension Archive {
  /// All records in one line each, by identifier, after checking every byte.
  ///
  /// The codec opens the records; what their bytes mean is read here.
  package func notation() throws -> [String] {
    try verifyAll()
    return try recordIdentifiers().map { identifier in
      guard let (frame, names) = try record(identifier)?.unsealed else {
        throw ModelReader.NotAValue()
      }
      var reader = ModelReader(frame[...])
      // The kind, the length and the identifier.
      _ = try (reader.byte(), reader.varint(), reader.take(8))
      return "\(identifier) \(try reader.value().notation(names))"
    }
  }
}
