import ArchiveCodec
import RestorationInspection

/// What is said of one value with `@Restored`.
struct ValueLine {
  let value: StoredState.Value

  /// A place that no element has: names of values are no paths.
  var path: String { (value.window.map { "\($0)/" } ?? "") + "@values/\(value.key)" }

  /// Writes the columns of an element, as far as a value has them.
  func write(_ output: Output) throws {
    let note = value.isUnread ? "unread: did not fit" : ""
    if output.isTerminal {
      try output.columns(
        ["\(value.byteCount)", "", "\(output.style.strong(path.escaped))  \(note)"],
        widths: ElementLine.widths)
    } else {
      try output.columns(
        ["\(value.byteCount)", "", "value", "", "", path.escaped, note], widths: [])
    }
  }

  /// Writes the fields of an object that is open, and the value if it was read.
  func write(_ json: JSONWriter, _ stored: Result<ValueLines, ArchiveError>? = nil) throws {
    try json.field("path", path)
    try json.field("kind", "value")
    try json.field("key", value.key)
    try json.field("window", value.window)
    try json.field("bytes", value.byteCount)
    if value.isUnread { try json.field("isUnread", true) }
    switch stored {
    case .success(let lines):
      guard let text = try lines.ownText else { return }
      try json.key("value")
      try json.literal(text)
    case .failure(let error):
      try json.key("error")
      try json.error(error)
    case nil: break
    }
  }
}

extension ValueLines {
  /// The value of a record that has one beside its name, as JSON.
  var ownText: String? {
    get throws { try texts().first { $0.key == "value" }?.text }
  }
}
