import ArchiveCodec
import Foundation

/// Writes JSON as it comes, so that a large archive need not fit into memory.
///
/// The open containers are a list, so depth costs no call stack.
final class JSONWriter {
  private let sink: (String) throws -> Void
  /// Whether something is in each open container.
  private var isBegun: [Bool] = []
  private var isAfterKey = false

  private let hasLines: Bool

  init(_ output: Output) {
    sink = { try output.write($0) }
    hasLines = true
  }

  /// Writes values of any number, one after the other.
  init(inOneLine sink: @escaping (String) throws -> Void) {
    self.sink = sink
    hasLines = false
  }

  private func separate() throws {
    if isAfterKey {
      isAfterKey = false
    } else if let last = isBegun.indices.last {
      if isBegun[last] { try sink(",") }
      // One element a line: what is read by lines stays readable.
      if hasLines, last <= 1 { try sink("\n") }
      isBegun[last] = true
    }
  }

  private func write(_ text: String) throws {
    try separate()
    try sink(text)
  }

  func object(_ body: () throws -> Void) throws {
    try beginObject()
    try body()
    try endObject()
  }

  func array(_ body: () throws -> Void) throws {
    try beginArray()
    try body()
    try endArray()
  }

  func beginObject() throws {
    try write("{")
    isBegun.append(false)
  }

  func beginArray() throws {
    try write("[")
    isBegun.append(false)
  }

  func endObject() throws {
    isBegun.removeLast()
    try sink("}")
  }

  func endArray() throws {
    isBegun.removeLast()
    try sink("]")
  }

  func key(_ key: String) throws {
    try write("\(Self.quoted(key)):")
    isAfterKey = true
  }

  func string(_ text: String) throws { try write(Self.quoted(text)) }

  func literal(_ text: String) throws { try write(text) }

  /// Writes nothing for nil.
  func field(_ name: String, _ value: String?) throws {
    guard let value else { return }
    try key(name)
    try string(value)
  }

  func field(_ name: String, _ value: Int?) throws {
    guard let value else { return }
    try key(name)
    try literal("\(value)")
  }

  func field(_ name: String, _ value: Bool) throws {
    try key(name)
    try literal("\(value)")
  }

  func field(_ name: String, _ value: Date?) throws { try field(name, value?.text) }

  private static func quoted(_ text: String) -> String {
    if text.isPlain { return "\"\(text)\"" }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case _ where scalar.isSteering:
        for unit in scalar.utf16 {
          let digits = String(unit, radix: 16)
          quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

// MARK: - Stored values

extension JSONWriter {
  /// Writes all values of a record or container as an object.
  ///
  /// What JSON has no form for is an object with one key that begins with `$`.
  func values(_ record: KeyedDecoder) throws {
    try object { try record.forEachToken { try token($0) } }
  }

  func token(_ token: ArchiveToken) throws {
    switch token {
    case .key(let name): try key(name)
    case .beginContainer: try beginObject()
    case .endContainer: try endObject()
    case .beginArray: try beginArray()
    case .endArray: try endArray()
    case .null: try literal("null")
    case .bool(let value): try literal("\(value)")
    case .integer(let value): try literal("\(value)")
    case .largeInteger(let value): try literal("\(value)")
    case .float(let value): try number(value, isFinite: value.isFinite)
    case .double(let value): try number(value, isFinite: value.isFinite)
    case .date(let value): try special("date", value.text)
    case .uuid(let value): try special("uuid", value.uuidString)
    case .url(let value): try special("url", value)
    case .string(let value), .name(let value): try string(value)
    case .bytes(let value): try special("data", Data(value).base64EncodedString())
    case .record(let value): try special("record", "\(value)")
    case .unknown(let type): try special("unknown", "\(type)")
    }
  }

  private func number(_ value: some CustomStringConvertible, isFinite: Bool) throws {
    if isFinite {
      try literal(value.description)
    } else {
      try special("number", value.description)
    }
  }

  private func special(_ kind: String, _ text: String) throws {
    try write("{\"$\(kind)\":\(Self.quoted(text))}")
  }
}

extension Result where Success == ValueLines, Failure == ArchiveError {
  /// Writes the values, or why nobody can read them, as fields of an object that is open.
  func write(_ json: JSONWriter) throws {
    switch self {
    case .success(let values): try values.write(json)
    case .failure(let error):
      try json.key("error")
      try json.error(error)
    }
  }
}

extension JSONWriter {
  /// Writes what is wrong, without where the file is.
  func error(_ error: ArchiveError, record: UInt64? = nil) throws {
    try object {
      if let record {
        try key("record")
        try literal("\(record)")
      }
      try field("code", "\(error.code)")
      try field("byte", error.offset)
      try field("subject", error.subject)
      if !error.path.isEmpty { try field("path", error.path.joined(separator: ".")) }
    }
  }
}
