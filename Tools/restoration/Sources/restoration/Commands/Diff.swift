import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationKit

struct Diff: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Says what two states of one app have different.",
    discussion: """
      Columns: +, - or ~ for what only the second has, only the first has, or both have with \
      another content; the path; and what is different: class, version, or keys. Secrets are \
      compared by their keys only. The key is that of the first state.
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

  @Flag(help: "Show the values that are different.")
  var values = false

  @OptionGroup var format: FormatOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let (old, new) = (try place(first), try place(second))
    for place in [old, new] { try place.requireStored() }
    let credential = try keys.credential(for: old)
    let before = try StateContents(StateReading(of: old.open(credential), at: old))
    let after = try StateContents(StateReading(of: new.open(credential), at: new))
    let changes = before.changes(to: after)
    if format.json {
      try output.json { json in
        try json.array { for change in changes { try write(change, before, after, json) } }
      }
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
    let (old, new) = (try before.texts(at: change.place), try after.texts(at: change.place))
    for key in change.keys {
      if let text = old[key] {
        try output.line("    \(style.bad("-")) \(key.escaped) = \(text)")
      }
      if let text = new[key] {
        try output.line("    \(style.good("+")) \(key.escaped) = \(text)")
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
        let texts = try contents.texts(at: change.place)
        try json.object {
          for key in change.keys {
            guard let text = texts[key] else { continue }
            try json.key(key)
            try json.literal(text)
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
  private(set) var isDamaged: Bool

  init(_ reading: StateReading) throws {
    state = reading.state
    isDamaged = reading.status == .damaged
    var places: [UInt64: Place] = [:]
    let application = Place(kind: "application", path: RestorationPath())
    places[StoredState.applicationRecord] = application
    contents[application] = Content(
      record: StoredState.applicationRecord, className: "", version: 1)
    order.append(application)
    reading.outline.forEach { element in
      let place = Place(kind: element.kind.rawValue, path: element.path)
      places[element.record] = place
      guard contents[place] == nil else { return }
      order.append(place)
      contents[place] = Content(
        record: element.record, className: element.className, version: element.version)
    }
    try state.forEachValues { record, values in
      guard let place = places[record], contents[place]?.record == record else { return }
      switch values {
      case .success(let values): contents[place]?.hashes = try Self.hashes(of: values)
      case .failure: isDamaged = true
      }
    }
  }

  private static func hashes(of values: StoredState.Values) throws -> [String: Int] {
    var hashers: [String: Hasher] = [:]
    for part in ValueLines(values: values).parts {
      try part.record.forEachToken { key, token in
        hashers[part.prefix + key, default: Hasher()].combine(token)
      }
    }
    var hashes = hashers.mapValues { $0.finalize() }
    for key in values.sensitive { hashes[key.name] = 0 }
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

  /// The values that may be shown as JSON, by their keys.
  func texts(at place: Place) throws -> [String: String] {
    guard let record = contents[place]?.record, let values = try state.values(ofRecord: record)
    else { return [:] }
    return Dictionary(
      try ValueLines(values: values).texts().map { ($0.key, $0.text) },
      uniquingKeysWith: { first, _ in first })
  }
}
