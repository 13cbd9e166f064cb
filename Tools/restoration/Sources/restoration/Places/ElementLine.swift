import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit

/// What is said of one element.
struct ElementLine {
  let element: StoredState.Element

  private static let deepestIndentation = 24
  private static let widths = [-10, 4]

  /// Names the columns.
  static func begin(_ output: Output, _ options: TableOptions) {
    output.table(
      output.isTerminal
        ? ["bytes", "", "element  class  notes"]
        : ["bytes", "version", "kind", "role", "class", "path", "notes"],
      widths: widths, options)
  }

  /// The path in full for a script; for a person the identifier, indented.
  func write(_ output: Output) throws {
    let style = output.style
    let version = "\(element.version)"
    let notes = notes.joined(separator: ", ")
    guard output.isTerminal else {
      return try output.columns(
        [
          "\(element.byteCount)", version, element.kind.rawValue, element.role.rawValue,
          element.className.escaped, element.path.description.escaped, notes,
        ], widths: [])
    }
    let margin = String(
      repeating: "  ", count: min(element.path.count - 1, Self.deepestIndentation))
    try output.columns(
      [
        "\(element.byteCount)", style.faint("v\(version)"),
        margin + style.strong((element.path.identifier ?? "").escaped) + "  "
          + element.className.escaped + "  "
          + (element.role == .unplaced ? style.bad(notes) : style.warning(notes)),
      ], widths: Self.widths)
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

/// What is said of the values of one element.
struct ValueLines {
  let values: StoredState.Values

  struct Part {
    let name: String
    let record: KeyedDecoder

    /// What is before its keys where those of all parts stand side by side.
    var prefix: String { name == "state" ? "" : "\(name)." }
  }

  var parts: [Part] {
    [("state", values.state), ("library", values.builtIn), ("scene", values.host)]
      .compactMap { name, record in record.map { Part(name: name, record: $0) } }
  }

  /// The keys, without their values.
  var keys: [String] {
    parts.flatMap { part in part.record.keys.map { part.prefix + $0 } }
  }

  /// The values as JSON in one line, each with its key.
  func texts() throws -> [(key: String, text: String)] {
    var texts: [(key: String, text: String)] = []
    for part in parts {
      var last: String?
      let json = JSONWriter(inOneLine: { texts[texts.count - 1].text += $0 })
      try part.record.forEachToken { key, token in
        if last != key { texts.append((part.prefix + key, "")) }
        last = key
        try json.token(token)
      }
    }
    return texts
  }

  /// Writes the fields of an object that is open.
  func write(_ json: JSONWriter) throws {
    for part in parts {
      try json.key(part.name)
      try json.values(part.record)
    }
  }

  /// Writes a line for each key, with the value as JSON.
  func write(_ output: Output) throws {
    for (key, text) in try texts() { try output.line("    \(key.escaped) = \(text)") }
  }
}

extension KeyedDecoder {
  /// Gives all values with the key of the record under which each token lies.
  func forEachToken(_ body: (_ key: String, ArchiveToken) throws -> Void) throws {
    var (key, depth) = ("", 0)
    try forEachToken { token in
      switch token {
      case .key(let name) where depth == 0:
        key = name
        return
      case .beginContainer, .beginArray: depth += 1
      case .endContainer, .endArray: depth -= 1
      default: break
      }
      try body(key, token)
    }
  }
}
