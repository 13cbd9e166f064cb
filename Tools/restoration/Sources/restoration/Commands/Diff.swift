import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationKit

struct Diff: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Says how two states of one app differ.",
    discussion: """
      Columns: + for an element that only the second has, - for one that only the first has, ~ \
      for one that differs; the path; and what differs: class, version, or keys. Of secrets \
      only the keys are compared. Both states are opened with the key of the first.
      """)

  @Argument(help: "The file of the first state.")
  var first: String

  @Argument(help: "The file of the second state.")
  var second: String

  @Option(help: "The identifier of the app; the folder of each file by default.")
  var app: String?

  @Option(help: "The name of both states; that of each file by default.")
  var state: String?

  @OptionGroup var keys: KeyOptions

  @Flag(help: "Show the values that differ.")
  var values = false

  @Flag(help: "Write JSON.")
  var json = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let (old, new) = (try place(first), try place(second))
    let credential = try keys.credential(for: old)
    let before = try StateContents(old.open(credential))
    let after = try StateContents(new.open(credential))
    let changes = before.changes(to: after)
    if json {
      let writer = JSONWriter(output)
      try writer.array { for change in changes { try write(change, before, after, writer) } }
      try output.line()
    } else {
      for change in changes { try write(change, before, after, output) }
    }
    if before.isDamaged || after.isDamaged {
      Output.complain("A part of these states cannot be read; see verify.")
      return .damaged
    }
    return changes.isEmpty ? .done : .different
  }

  private func place(_ file: String) throws -> StatePlace {
    try StatePlace(file: file, application: app, name: state)
  }

  private func write(
    _ change: StateContents.Change, _ before: StateContents, _ after: StateContents,
    _ output: Output
  ) throws {
    let style = output.style
    let sign =
      switch change.sign {
      case "+": style.good("+")
      case "-": style.bad("-")
      default: style.warning(change.sign)
      }
    try output.columns(
      [sign, change.path.escaped, change.details.map(\.escaped).joined(separator: ", ")],
      widths: [1, 40])
    guard values else { return }
    for key in change.keys {
      if let value = try before.value(of: key, at: change.place) {
        try output.line("    \(style.bad("-")) \(key.escaped) = \(value)")
      }
      if let value = try after.value(of: key, at: change.place) {
        try output.line("    \(style.good("+")) \(key.escaped) = \(value)")
      }
    }
  }

  private func write(
    _ change: StateContents.Change, _ before: StateContents, _ after: StateContents,
    _ json: JSONWriter
  ) throws {
    try json.object {
      try json.field("change", change.sign)
      try json.field("path", change.path)
      try json.key("details")
      try json.array { for detail in change.details { try json.string(detail) } }
      try json.key("keys")
      try json.array { for key in change.keys { try json.string(key) } }
      guard values else { return }
      for (name, contents) in [("before", before), ("after", after)] {
        try json.key(name)
        try json.object {
          for key in change.keys {
            guard let value = try contents.value(of: key, at: change.place) else { continue }
            try json.key(key)
            try json.literal(value)
          }
        }
      }
    }
  }
}

/// What a state holds, with a hash for each value.
struct StateContents {
  /// Where an element is; what is saved of the application has no path.
  struct Place: Hashable {
    let kind: String
    let path: RestorationPath
  }

  struct Change {
    let sign: String
    let place: Place
    let path: String
    let details: [String]
    let keys: [String]
  }

  private struct Content {
    let record: UInt64
    let className: String
    let version: Int
    var hashes: [String: Int] = [:]
  }

  private let state: StoredState
  private var contents: [Place: Content] = [:]
  private var order: [Place] = []
  let isDamaged: Bool

  init(_ state: StoredState) throws {
    self.state = state
    let outline = try state.outlineWithProgress()
    isDamaged = StateHead.status(state, outline) == .damaged
    var places: [UInt64: Place] = [:]
    let application = Place(kind: "application", path: RestorationPath())
    places[StoredState.applicationRecord] = application
    contents[application] = Content(
      record: StoredState.applicationRecord, className: "", version: 1)
    order.append(application)
    outline.forEach { element in
      let place = Place(
        kind: element.kind.rawValue, path: element.path)
      places[element.record] = place
      guard contents[place] == nil else { return }
      order.append(place)
      contents[place] = Content(
        record: element.record, className: element.className, version: element.version)
    }
    try state.forEachValues { record, values in
      guard let place = places[record], case .success(let values) = values else { return }
      contents[place]?.hashes = try Self.hashes(of: values)
    }
  }

  private static func hashes(of values: StoredState.Values) throws -> [String: Int] {
    var hashes: [String: Int] = [:]
    for (prefix, record) in [
      ("", values.state), ("library.", values.builtIn), ("scene.", values.host),
    ] {
      guard let record else { continue }
      var depth = 0
      var key: String?
      var hasher = Hasher()
      try record.forEachToken { token in
        if depth == 0, case .key(let name) = token {
          if let key { hashes[key] = hasher.finalize() }
          (key, hasher) = (prefix + name, Hasher())
          return
        }
        hasher.combine(token)
        switch token {
        case .beginArray, .beginContainer: depth += 1
        case .endArray, .endContainer: depth -= 1
        default: break
        }
      }
      if let key { hashes[key] = hasher.finalize() }
    }
    for key in values.sensitive { hashes[key.keys.joined(separator: ".")] = 0 }
    return hashes
  }

  func changes(to other: StateContents) -> [Change] {
    var changes: [Change] = []
    for place in order {
      guard let old = contents[place] else { continue }
      guard let new = other.contents[place] else {
        changes.append(Self.change("-", place, [old.className], Array(old.hashes.keys)))
        continue
      }
      var details: [String] = []
      if old.className != new.className {
        details.append("class \(old.className) is now \(new.className)")
      }
      if old.version != new.version {
        details.append("version \(old.version) is now \(new.version)")
      }
      let keys = Set(old.hashes.keys).union(new.hashes.keys)
        .filter { old.hashes[$0] != new.hashes[$0] }.sorted()
      for key in keys {
        let sign = old.hashes[key] == nil ? "+" : new.hashes[key] == nil ? "-" : "~"
        details.append("\(sign)\(key)")
      }
      if !details.isEmpty { changes.append(Self.change("~", place, details, keys)) }
    }
    for place in other.order where contents[place] == nil {
      guard let new = other.contents[place] else { continue }
      changes.append(Self.change("+", place, [new.className], Array(new.hashes.keys)))
    }
    return changes
  }

  private static func change(
    _ sign: String, _ place: Place, _ details: [String], _ keys: [String]
  ) -> Change {
    Change(
      sign: sign, place: place,
      path: place.kind == "application" ? "application" : place.path.description,
      details: details, keys: keys.sorted())
  }

  /// The value of a key as JSON; nil if there is none, or if it must not be shown.
  func value(of key: String, at place: Place) throws -> String? {
    guard let record = contents[place]?.record, let values = try state.values(ofRecord: record)
    else { return nil }
    return try ValueLines(values: values).text(of: key)
  }
}
