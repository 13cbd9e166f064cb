/// A value that was read, with the fields that another value has lent.
package struct MendedValue<Value> {
  package let value: Value
  /// The fields of the value itself whose stored values do not fit, in order, with the errors.
  package var replaced: [(field: String, error: DecodingError)] = []
  /// The paths of the fields that are not stored, by the names that lead there.
  package var added: [[String]] = []
  /// Whether each stored field has its place in the value.
  package var isWhole = true
}

/// Finds out which fields of a stored value to take from another one of its type.
///
/// No field is taken before an error has escaped from the type: a type that tries
/// several forms in turns must see only the stored value.
struct FieldMending {
  private let key: String
  private let stored: KeyedDecoder
  private let other: KeyedDecoder
  private var replaced: [(field: String, error: DecodingError)] = []
  private var added: Set<[String]> = []

  /// Nil if one of the two has no fields.
  init?(_ key: String, of record: KeyedDecoder, from value: some Encodable) {
    guard let stored = record.fields(forKey: key), let other = Self.fields(of: value) else {
      return nil
    }
    (self.key, self.stored, self.other) = (key, stored, other)
  }

  /// Nil if the value has no fields, or cannot be encoded.
  private static func fields(of value: some Encodable) -> KeyedDecoder? {
    let record = try? KeyedDecoder.encoding { try $0.encode(value, forKey: "value") }
    return record?.fields(forKey: "value")
  }

  /// Takes one more field because of an error; false if no field can help.
  ///
  /// - Complexity: O(*n*) in the keys of the containers on the path of the error.
  mutating func take(_ error: DecodingError) -> Bool {
    let path = error.path
    guard path.first?.stringValue == key, let first = path.dropFirst().first, !isIndex(first)
    else { return false }
    let field = first.stringValue
    guard !replaced.contains(where: { $0.field == field }) else { return false }
    if case .keyNotFound = error {
      let names = path.dropFirst().map(\.stringValue)
      if !path.contains(where: isIndex), isMissing(names), added.insert(names).inserted {
        return true
      }
    }
    guard other.contains(field) ? other.isField(field) : stored.isField(field) else { return false }
    added = added.filter { $0.first != field }
    replaced.append((field, error))
    return true
  }

  private func isIndex(_ key: any CodingKey) -> Bool {
    if case .index = key as? PathKey { true } else { false }
  }

  /// Whether the other value has a field there that is not stored, and only fields lead to it.
  private func isMissing(_ names: [String]) -> Bool {
    guard let last = names.last, let (stored, other) = containers(of: names, in: other) else {
      return false
    }
    return !stored.contains(last) && other.isField(last)
  }

  /// The two containers that a field lies in; nil if other values than fields lead there.
  private func containers(
    of names: [String], in other: KeyedDecoder
  ) -> (stored: KeyedDecoder, other: KeyedDecoder)? {
    var (stored, other) = (stored, other)
    for name in names.dropLast() {
      guard stored.isField(name), other.isField(name), let inner = stored.fields(forKey: name),
        let otherInner = other.fields(forKey: name)
      else { return nil }
      (stored, other) = (inner, otherInner)
    }
    return (stored, other)
  }

  /// The stored value with the fields that were taken.
  ///
  /// - Complexity: O(*n*) in the size of both values.
  func record() throws -> KeyedDecoder {
    try KeyedDecoder.encoding { encoder in
      try encoder.encodeContainer(forKey: key) {
        try Self.write(
          replaced.map { [$0.field] } + added.map { $0[...] }, of: stored, other, to: $0)
      }
    }
  }

  /// The recursion is only as deep as the type's calls for its own fields.
  private static func write(
    _ taken: [ArraySlice<String>], of stored: KeyedDecoder, _ other: KeyedDecoder,
    to encoder: KeyedEncoder
  ) throws {
    let keys = Set(taken.compactMap(\.first))
    for key in stored.keys where !keys.contains(key) { try encoder.copy(key, from: stored) }
    for key in keys {
      let paths = taken.filter { $0.first == key }
      if !paths.contains(where: { $0.count == 1 }), let stored = stored.fields(forKey: key),
        let other = other.fields(forKey: key)
      {
        try encoder.encodeContainer(forKey: key) {
          try write(paths.map { $0.dropFirst() }, of: stored, other, to: $0)
        }
      } else {
        try encoder.copy(key, from: other)
      }
    }
  }

  func result<Value: Encodable>(_ value: Value) -> MendedValue<Value> {
    MendedValue(
      value: value, replaced: replaced, added: added.ordered { $0.lexicographicallyPrecedes($1) },
      isWhole: replaced.isEmpty && hasAllThatIsStored(value))
  }

  /// Whether the value still has all stored fields in the containers to which fields were added.
  ///
  /// A field that was renamed is missing under its new name and lost under its old one.
  private func hasAllThatIsStored(_ value: some Encodable) -> Bool {
    if added.isEmpty { return true }
    guard let now = Self.fields(of: value) else { return false }
    return added.allSatisfy { names in
      guard let (stored, now) = containers(of: names, in: now) else { return false }
      return stored.keys.allSatisfy(now.contains)
    }
  }
}

extension KeyedDecoder {
  /// The container of a key; nil if there is none, or another value.
  fileprivate func fields(forKey key: String) -> KeyedDecoder? {
    (try? container(forKey: key)) ?? nil
  }
}

extension DecodingError {
  /// The path of the error; if a key is missing, with that key.
  fileprivate var path: [any CodingKey] {
    switch self {
    case .keyNotFound(let key, let context): context.codingPath + [key]
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.codingPath
    @unknown default: []
    }
  }
}
