import ArchiveCodec
import ArchiveForge
import Foundation

/// The map of a record and its symbols, as somebody with the key may seal them.
///
/// The input is one byte with the size of the symbols, then the payload of a
/// symbols frame, then the map. What the codec accepts is what the model of
/// the specification accepts, every value decodes as what it is, and encoding
/// it again gives the same bytes.
enum ValuesTarget {
  static func run(_ input: [UInt8]) throws(Finding) {
    guard let (symbols, map) = parts(input) else { return }
    let model = ModelRecord(map, symbols: symbols)
    do {
      let decoder = try KeyedDecoder(unsealed: map, symbols: symbols)
      guard let model else { throw Finding("accepted against the specification") }
      try check(decoder, model.root, model, isRoot: true)
    } catch let finding as Finding {
      throw finding
    } catch let error as ArchiveError {
      try promise(
        [.malformed, .limitExceeded, .unsupportedFeature].contains(error.code),
        "refused as \(error)")
      try promise(model == nil, "refused against the specification: \(error)")
    } catch {
      throw Finding("threw \(error)")
    }
  }

  static func parts(_ input: [UInt8]) -> (symbols: [UInt8], map: [UInt8])? {
    guard let first = input.first else { return nil }
    let symbols = Array(input.dropFirst().prefix(Int(first)))
    return (symbols, Array(input.dropFirst(1 + symbols.count)))
  }

  private static func check(
    _ decoder: KeyedDecoder, _ entries: [ModelValue.Entry], _ model: ModelRecord,
    isRoot: Bool = false
  ) throws(Finding) {
    try promise(
      decoder.keys.map { Array($0.utf8) } == entries.map { Array(model.name(of: $0.key).utf8) },
      "other keys")
    for entry in entries {
      let name = model.name(of: entry.key)
      let field = Field(decoder: decoder, key: name)
      if case .map(let inner) = entry.value {
        try checkMap(field, inner, model)
      } else {
        try field.check(entry.value)
      }
    }
  }

  private static func checkMap(
    _ field: Field, _ inner: [ModelValue.Entry], _ model: ModelRecord
  ) throws(Finding) {
    let isDictionary = inner.allSatisfy { if case .inline = $0.key { true } else { false } }
    if isDictionary {
      try field.checkIfItDecodes([String: String].self, .map(inner))
      try field.checkIfItDecodes([String: Double].self, .map(inner))
      try field.checkIfItDecodes([String: [Bool]].self, .map(inner))
      try field.checkIfItDecodes([String: [String: UUID]].self, .map(inner))
    }
    do {
      guard let container = try field.decoder.container(forKey: field.key) else {
        throw Finding("no container")
      }
      try check(container, inner, model)
    } catch let finding as Finding {
      throw finding
    } catch {
      throw Finding("no container: \(error)")
    }
  }
}

// MARK: - Seeds

extension ValuesTarget {
  /// A record with all that there is a form for, and one for each form.
  static var seeds: [[UInt8]] {
    get throws {
      let whole = try record { try FuzzArchive.encode(2, $0) }
      let values: [any ArchiveValue] = [
        true, 5, 64, -17, UInt64.max, Float.nan, -0.0, Date.distantPast, UUID(), "", "text",
        String(repeating: "é", count: 30), Data([1, 2]), [300, 1], [UInt64.max], [Float.pi],
        [Double.infinity], ["a", "b"], [[true], []], ["a": 1, "é": 2], [String: Bool](),
      ]
      let single = try values.map { value in try record { $0.encode(value, forKey: "a") } }
      let reference = try record { $0.encodeReferences(to: [1, 300], forKey: "a") }
      let names = try record { $0.encode(name: "Product", forKey: "a") }
      return [whole, reference, names] + single
    }
  }

  static func record(_ body: (KeyedEncoder) throws -> Void) throws -> [UInt8] {
    let builder = RecordBuilder()
    try builder.append(record: 1, body)
    let (maps, symbols) = try builder.finish().unsealed
    return [UInt8(symbols.count)] + symbols + maps[0]
  }
}
