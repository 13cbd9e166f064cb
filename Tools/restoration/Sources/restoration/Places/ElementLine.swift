import ArchiveCodec
import Foundation
import RestorationKit

/// What is said of one element.
struct ElementLine {
  let element: StoredState.Element

  private static let deepestIndentation = 24

  /// The path in full for a script; for a person the identifier, indented.
  func write(_ output: Output) throws {
    let style = output.style
    let version = "\(element.version)"
    let notes = notes.joined(separator: ", ")
    guard output.isTerminal else {
      return try output.line(
        [
          "\(element.byteCount)", version, element.kind.rawValue, element.role.rawValue,
          element.className.escaped, element.path.description.escaped, notes,
        ].joined(separator: "\t"))
    }
    let margin = String(
      repeating: "  ", count: min(element.path.count - 1, Self.deepestIndentation))
    try output.columns(
      [
        "\(element.byteCount)", style.faint("v\(version)"),
        margin + style.strong((element.path.identifier ?? "").escaped) + "  "
          + element.className.escaped + "  "
          + (element.role == .unplaced ? style.bad(notes) : style.warning(notes)),
      ], widths: [-10, 4])
  }

  private var notes: [String] {
    var notes: [String] = []
    if element.role == .unplaced { notes.append("unplaced") }
    if let date = element.keptSince { notes.append("kept since \(date.text)") }
    if element.hasLastState { notes.append("state of an earlier save") }
    return notes
  }

  /// Writes the fields of an object that is open.
  func write(_ json: JSONWriter) throws {
    try json.field("path", element.path.description)
    try json.key("identifiers")
    try json.array { for identifier in element.path.components { try json.string(identifier) } }
    if element.path.siblingIndex > 0 { try json.field("siblingIndex", element.path.siblingIndex) }
    try json.key("record")
    try json.literal("\(element.record)")
    try json.field("kind", element.kind.rawValue)
    try json.field("role", element.role.rawValue)
    try json.field("class", element.className)
    try json.field("restorationClass", element.restorationClassName)
    try json.field("version", element.version)
    try json.field("bytes", element.byteCount)
    try json.field("keptSince", element.keptSince)
    if element.hasLastState { try json.field("hasLastState", true) }
  }
}

/// What is said of the values of one element: of those with a sensitivity only their keys.
struct ValueLines {
  let values: StoredState.Values

  private var parts: [(name: String, record: KeyedDecoder)] {
    [("state", values.state), ("library", values.builtIn), ("scene", values.host)]
      .compactMap { name, record in record.map { (name, $0) } }
  }

  /// Writes the fields of an object that is open.
  func write(_ json: JSONWriter) throws {
    for (name, record) in parts {
      try json.key(name)
      try json.values(record)
    }
    guard !values.sensitive.isEmpty else { return }
    try json.key("withheld")
    try json.array {
      for key in values.sensitive {
        try json.object {
          try json.field("key", key.keys.joined(separator: "."))
          try json.field("isSecret", key.isSecret)
          try json.field("end", key.end)
        }
      }
    }
  }

  /// Writes a line for each key, with the value as JSON.
  func write(_ output: Output, margin: String = "    ") throws {
    for (name, record) in parts {
      let prefix = name == "state" ? "" : "\(name)."
      for key in record.keys {
        try output.line(
          "\(margin)\(prefix)\(key.escaped) = \(try Self.text(of: key, in: record))")
      }
    }
    for key in values.sensitive {
      let why = key.isSecret ? "a secret" : "ends \(key.end?.text ?? "")"
      try output.line("\(margin)\(key.keys.joined(separator: ".").escaped) withheld: \(why)")
    }
  }

  /// The value of one key as it is named in ``keys``, as JSON; nil if there is none.
  func text(of key: String) throws -> String? {
    for (name, record) in parts {
      for own in record.keys where (name == "state" ? own : "\(name).\(own)") == key {
        return try Self.text(of: own, in: record)
      }
    }
    return nil
  }

  /// The keys, without their values.
  var keys: [String] {
    parts.flatMap { name, record in
      record.keys.map { name == "state" ? $0 : "\(name).\($0)" }
    }
  }

  /// The value of one key, as JSON in one line.
  private static func text(of key: String, in record: KeyedDecoder) throws -> String {
    var isWanted = false
    var depth = 0
    return try JSONWriter.text { json in
      try record.forEachToken { token in
        switch token {
        case .key(let name) where depth == 0: isWanted = name.utf8.elementsEqual(key.utf8)
        default:
          if case .endContainer = token { depth -= 1 }
          if case .endArray = token { depth -= 1 }
          if isWanted { try json.token(token) }
          if case .beginContainer = token { depth += 1 }
          if case .beginArray = token { depth += 1 }
        }
      }
    }.replacing("\n", with: "")
  }
}
