import ArchiveForge

/// A record with its symbols, and all that the specification asks of it.
struct ModelRecord {
  let names: [String]
  let root: [ModelValue.Entry]

  /// Nil if the specification refuses it.
  init?(_ map: [UInt8], symbols: [UInt8]) {
    guard let names = Self.names(symbols) else { return nil }
    var reader = ModelReader(map[...])
    guard let value = try? reader.value(), case .map(let root) = value,
      value.encoded == map, Self.isAllowed(value, names)
    else { return nil }
    self.names = names
    self.root = root
  }

  func name(of key: ModelValue.Key) -> String {
    switch key {
    case .symbol(let number): names[Int(number)]
    case .inline(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func names(_ payload: [UInt8]) -> [String]? {
    var reader = ModelReader(payload[...])
    guard let count = try? reader.varint(), count <= 1 << 16 else { return nil }
    var encoded = ModelValue.varint(count)
    var names: [String] = []
    for _ in 0..<count {
      guard let length = try? reader.varint(), length <= 1024,
        let bytes = try? reader.take(length), let name = String(validating: bytes, as: UTF8.self)
      else { return nil }
      encoded += ModelValue.varint(length) + bytes
      names.append(name)
    }
    guard encoded == payload, Set(names.map { Array($0.utf8) }).count == names.count else {
      return nil
    }
    return names
  }

  static func isAllowed(_ value: ModelValue, _ names: [String]) -> Bool {
    switch value {
    case .extension(let type, _): type.isMultiple(of: 2)
    case .name(let name): isAllowed(name, names, limit: 1024)
    case .string(let text), .url(let text): String(validating: text, as: UTF8.self) != nil
    case .array(let elements): elements.allSatisfy { isAllowed($0, names) }
    case .map(let entries):
      areAllowed(entries.map(\.key), names)
        && entries.allSatisfy { isAllowed($0.value, names) }
    default: true
    }
  }

  /// A name is written out only if it has no symbol.
  static func isAllowed(_ name: ModelValue.Key, _ names: [String], limit: Int) -> Bool {
    switch name {
    case .symbol(let number):
      number < UInt64(names.count) && names[Int(number)].utf8.count <= limit
    case .inline(let bytes):
      bytes.count <= limit
        && String(validating: bytes, as: UTF8.self) != nil && number(of: bytes, names) == nil
    }
  }

  /// Names are equal if their bytes are, and not if they are as strings.
  private static func number(of name: [UInt8], _ names: [String]) -> Int? {
    names.firstIndex { Array($0.utf8) == name }
  }

  private static func areAllowed(_ keys: [ModelValue.Key], _ names: [String]) -> Bool {
    let used = Set(
      keys.compactMap { key in
        if case .symbol(let number) = key {
          names.indices.contains(Int(number)) ? number : nil
        } else {
          nil
        }
      })
    for key in keys {
      switch key {
      case .symbol(let number): guard number < UInt64(names.count) else { return false }
      case .inline(let bytes):
        guard bytes.count <= 1024, String(validating: bytes, as: UTF8.self) != nil else {
          return false
        }
        if let number = number(of: bytes, names), used.contains(UInt64(number)) { return false }
      }
    }
    return zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
  }
}

extension ModelValue.Key: Comparable {
  static func < (left: ModelValue.Key, right: ModelValue.Key) -> Bool {
    switch (left, right) {
    case (.symbol(let left), .symbol(let right)): left < right
    case (.symbol, .inline): true
    case (.inline, .symbol): false
    case (.inline(let left), .inline(let right)): left.lexicographicallyPrecedes(right)
    }
  }
}
