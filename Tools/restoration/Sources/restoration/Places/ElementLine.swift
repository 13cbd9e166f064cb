import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit

/// What is said of one element.
struct ElementLine {
  let element: StoredState.Element

  private static let deepestIndentation = 24
  static let widths = [-10, 4]

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
          "\(element.byteCount)", version, element.kind, element.role.rawValue,
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
          + style.warning(notes),
      ], widths: Self.widths)
  }

  private var notes: [String] {
    (element.kept.map { ["kept\($0.since.map { " since \($0.text)" } ?? ""): \($0.reason)"] } ?? [])
      + (element.unread.isEmpty ? [] : [element.unread.count.of("unread state")])
  }

  /// Writes the fields of an object that is open.
  func write(_ json: JSONWriter) throws {
    try json.field("path", element.path.description)
    try json.key("identifiers")
    try json.array { for identifier in element.path.components { try json.string(identifier) } }
    if element.path.siblingIndex > 0 { try json.field("siblingIndex", element.path.siblingIndex) }
    try json.key("identifier")
    try json.literal("\(element.identifier)")
    try json.field("kind", element.kind)
    try json.field("role", element.role.rawValue)
    try json.field("class", element.className)
    try json.field("restorationClass", element.restorationClassName)
    try json.field("version", element.version)
    try json.field("bytes", element.byteCount)
    if let kept = element.kept {
      try json.key("kept")
      try json.object { try kept.write(json, isElement: true) }
    }
  }

  /// Writes the states that no object has read as a field of an object that is open, each with what the
  /// body adds.
  func writeUnread(
    _ json: JSONWriter, _ body: (StoredState.Kept) throws -> Void = { _ in }
  ) throws {
    guard !element.unread.isEmpty else { return }
    try json.key("unread")
    try json.array {
      for unread in element.unread {
        try json.object {
          try unread.write(json)
          try body(unread)
        }
      }
    }
  }
}

extension StoredState.Kept {
  /// Writes the fields of an object that is open; an element has its class and size itself.
  func write(_ json: JSONWriter, isElement: Bool = false) throws {
    try json.field("reason", reason)
    try json.field("since", since)
    guard !isElement else { return }
    try json.field("class", className)
    try json.field("version", version)
    try json.field("bytes", byteCount)
  }

  /// What a person reads of a state that no object has read.
  var phrase: String {
    "unread: \(reason)\(since.map { " since \($0.text)" } ?? ""), \(className.escaped) v\(version),"
      + " \(byteCount.of("byte"))"
  }
}

/// What is said of the values of one record.
struct ValueLines {
  let values: KeyedDecoder

  /// The keys, without their values.
  var keys: [String] { values.keys }

  /// The values as JSON in one line, each with its key.
  func texts() throws -> [(key: String, text: String)] {
    var texts: [(key: String, text: String)] = []
    var last: String?
    let json = JSONWriter(inOneLine: { texts[texts.count - 1].text += $0 })
    try values.forEachToken { key, token in
      if last != key { texts.append((key, "")) }
      last = key
      try json.token(token)
    }
    return texts
  }

  /// Writes a field of an object that is open.
  func write(_ json: JSONWriter) throws {
    try json.key("state")
    try json.values(values)
  }

  /// Writes a line for each key, with the value as JSON.
  func write(_ output: Output, margin: String) throws {
    for (key, text) in try texts() { try output.line("\(margin)\(key.escaped) = \(text)") }
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
