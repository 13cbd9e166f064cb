import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct Diff: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Says how two states of one app differ.",
    discussion: """
      Columns: + for an element that only the second has, - for one that only the first has, ~ \
      for one that differs; the path; and what differs: class, version, or keys. Both \
      states are opened with the key of the first.
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

  @OptionGroup var format: FormatOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let (old, new) = (try place(first), try place(second))
    for place in [old, new] { try place.requireStored() }
    let credential = try keys.credential(for: old)
    let before = try StateContents(StateReading(of: old.open(credential), at: old))
    let after = try StateContents(StateReading(of: new.open(credential), at: new))
    let changes = try before.changes(to: after)
    if format.json {
      try output.json { json in
        try json.array { for change in changes { try write(change, before, after, json) } }
      }
    } else {
      output.table(["", "path", "differs"], widths: [1, 40], table)
      for change in changes { try write(change, before, after, output) }
    }
    let damaged = [("first", before, old), ("second", after, new)].filter { $0.1.isDamaged }
    for (which, _, place) in damaged {
      Output.complain(
        "A part of the \(which) file, \(place.fileName), cannot be read; see verify.")
    }
    guard damaged.isEmpty else { return .damaged }
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
    let (old, new) = (try before.texts(ofRecord: change.old), try after.texts(ofRecord: change.new))
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
      for (name, contents, record) in [
        ("before", before, change.old), ("after", after, change.new),
      ] {
        try json.key(name)
        let texts = try contents.texts(ofRecord: record)
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

/// What a state holds, with a hash for each element.
///
/// The hashes are seeded anew in each run, so nobody can make two contents of one hash.
struct StateContents {
  struct Change {
    let sign: String
    let path: String
    let details: [String]
    let keys: [String]
    /// The record of the element in the first state.
    var old: UInt64?
    /// That in the second one.
    var new: UInt64?
  }

  private let reading: StateReading
  /// The records of the elements by the hashes of their places; of equal places the first.
  private var records: [Int: UInt64] = [:]
  /// Of all values of a record.
  private var hashes: [UInt64: Int] = [:]
  private var unreadable: Set<UInt64> = []

  var isDamaged: Bool { reading.status == .damaged || !unreadable.isEmpty }

  init(_ reading: StateReading) throws {
    self.reading = reading
    records.reserveCapacity(reading.outline.count)
    hashes.reserveCapacity(reading.outline.count)
    reading.outline.forEach { element in
      let place = Self.hash(ofPlaceOf: element)
      if records[place] == nil { records[place] = element.record }
    }
    try reading.state.forEachValues { record, values in
      switch values {
      case .success(let values):
        // The order of the keys says nothing.
        hashes[record] = try hashes(of: values).reduce(0) { sum, value in
          var hasher = Hasher()
          hasher.combine(value.key)
          hasher.combine(value.value)
          return sum &+ hasher.finalize()
        }
      case .failure: unreadable.insert(record)
      }
    }
  }

  private static func hash(ofPlaceOf element: StoredState.Element) -> Int {
    var hasher = Hasher()
    hasher.combine(element.kind)
    hasher.combine(element.path)
    return hasher.finalize()
  }

  private func hashes(of values: KeyedDecoder) throws -> [String: Int] {
    var hashers: [String: Hasher] = [:]
    try values.forEachToken { key, token in
      var hasher = hashers[key] ?? Hasher()
      if let place = place(of: token) { hasher.combine(place) } else { hasher.combine(token) }
      hashers[key] = hasher
    }
    return hashers.mapValues { $0.finalize() }
  }

  /// The hash of the place that a reference leads to, since each state numbers its elements itself;
  /// nil if it leads nowhere, and for anything else.
  private func place(of token: ArchiveToken) -> Int? {
    guard case .record(let identifier) = token else { return nil }
    return reading.outline.element(withIdentifier: identifier).map(Self.hash)
  }

  /// A hash for each value of a record; none if nobody can read it, which is told at the end.
  private func hashes(ofRecord record: UInt64) throws -> [String: Int] {
    guard !unreadable.contains(record) else { return [:] }
    return try reading.state.values(ofRecord: record).map(hashes) ?? [:]
  }

  func changes(to other: StateContents) throws -> [Change] {
    var changes: [Change] = []
    let application = StoredState.applicationRecord
    let keys = try changedKeys(from: application, to: application, of: other)
    if !keys.isEmpty {
      changes.append(
        Change(
          sign: "~", path: "application", details: keys.map { $0.sign + $0.key },
          keys: keys.map(\.key), old: application, new: application))
    }
    try reading.outline.forEach { element in
      let place = Self.hash(ofPlaceOf: element)
      guard records[place] == element.record else { return }
      guard let record = other.records[place],
        let new = other.reading.outline.element(ofRecord: record)
      else { return changes.append(Change("-", element, try storedKeys(of: element))) }
      if let change = try change(from: element, to: new, of: other) { changes.append(change) }
    }
    try other.reading.outline.forEach { element in
      let place = Self.hash(ofPlaceOf: element)
      guard records[place] == nil, other.records[place] == element.record else { return }
      changes.append(Change("+", element, try other.storedKeys(of: element)))
    }
    return changes
  }

  private func change(
    from old: StoredState.Element, to new: StoredState.Element, of other: StateContents
  ) throws -> Change? {
    var details: [String] = []
    if old.className != new.className {
      details.append("class \(old.className) is now \(new.className)")
    }
    if old.version != new.version {
      details.append("version \(old.version) is now \(new.version)")
    }
    let keys = try changedKeys(from: old.record, to: new.record, of: other)
    details += keys.map { $0.sign + $0.key }
    guard !details.isEmpty else { return nil }
    return Change(
      sign: "~", path: old.path.description, details: details, keys: keys.map(\.key),
      old: old.record, new: new.record)
  }

  private func changedKeys(
    from old: UInt64, to new: UInt64, of other: StateContents
  ) throws -> [(sign: String, key: String)] {
    guard hashes[old] != other.hashes[new], !unreadable.contains(old),
      !other.unreadable.contains(new)
    else { return [] }
    let (before, after) = (try hashes(ofRecord: old), try other.hashes(ofRecord: new))
    return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted().map {
      (sign: before[$0] == nil ? "+" : after[$0] == nil ? "-" : "~", key: $0)
    }
  }

  private func storedKeys(of element: StoredState.Element) throws -> [String] {
    try hashes(ofRecord: element.record).keys.sorted()
  }

  /// The values that may be shown as JSON, by their keys.
  func texts(ofRecord record: UInt64?) throws -> [String: String] {
    guard let record, !unreadable.contains(record),
      let values = try reading.state.values(ofRecord: record)
    else { return [:] }
    return Dictionary(
      try ValueLines(values: values).texts().map { ($0.key, $0.text) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension StateContents.Change {
  /// An element that only one of the states has.
  fileprivate init(_ sign: String, _ element: StoredState.Element, _ keys: [String]) {
    self.init(
      sign: sign, path: element.path.description, details: [element.className], keys: keys,
      old: sign == "-" ? element.record : nil, new: sign == "+" ? element.record : nil)
  }
}
