import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct Explain: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Says what a launch of the app would do with its state.",
    discussion: """
      It knows the files, but not the classes of the app, and not what the app has set, such \
      as crashThreshold: it takes the defaults. Columns: a topic, and a sentence.
      """)

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try options.place.place()
    let explanation = try Explanation(of: place, options.keys.result(for: place))
    if options.json {
      try output.json { try explanation.write($0) }
    } else {
      output.table(["topic", "sentence"], widths: [10], table)
      for finding in explanation.findings {
        try output.columns(
          [output.style.strong(finding.topic), finding.sentence], widths: [10])
      }
    }
    return explanation.status
  }
}

/// What can be said of the next launch without the app.
struct Explanation {
  struct Finding {
    let topic: String
    let sentence: String
  }

  private(set) var findings: [Finding] = []
  private(set) var status = ExitStatus.done
  /// What is stored; nil without a key.
  private(set) var history: StoredHistory?

  /// What `StatePolicy.crashThreshold` is by default.
  private static let crashThreshold = StatePolicy().crashThreshold
  private static let shownClassCount = 50

  /// Takes what opens the state, or why there is nothing that does.
  init(of place: StatePlace, _ credential: Result<ArchiveCredential, ArchiveError>) throws {
    try explainOwner(of: place)
    try explainOthers(beside: place)
    switch credential {
    case .success(let credential):
      let history = try StoredHistory(of: place, .success(credential))
      self.history = history
      guard let source = try explainSource(history) else { return }
      if case .key(let key) = credential { try explainCrashes(source, at: place, key) }
      explainElements(source.outline)
    case .failure(let error): try explainKey(error, for: place)
    }
  }

  private mutating func explainKey(_ error: ArchiveError, for place: StatePlace) throws {
    guard error.code == .keyMissing else {
      guard ExitStatus(error) == .noKey else { throw error }
      add("key", "The key cannot be used (\(error.phrase)). Nothing is restored or overwritten.")
      status = .noKey
      return
    }
    let isStored = try place.stateStorage.open() != nil
    add(
      "key",
      isStored
        ? "There is no key. The restore throws, the app starts afresh, and the next save keeps"
          + " the state in the history."
        : "There is no key and no state. The app starts afresh; the first save makes a key.")
    if place.isNamedByFolder { add("app", place.folderHint) }
    status = isStored ? .noKey : .nothingStored
  }

  private mutating func add(_ topic: String, _ sentence: String) {
    findings.append(Finding(topic: topic, sentence: sentence))
  }

  private mutating func explainOwner(of place: StatePlace) throws {
    guard try place.isInUse() else {
      return add("owner", "Nobody has the state; the next launch takes it.")
    }
    add(
      "owner",
      "An instance of the app has the state. Another launch takes the next number, such as"
        + " \(place.name.escaped)~2, or restores nothing with policy.isSingleInstance.")
  }

  private mutating func explainOthers(beside place: StatePlace) throws {
    let numbered = try place.stateNames().filter { $0.hasPrefix("\(place.name)~") }
    if !numbered.isEmpty {
      add(
        "instances",
        "States of further instances: \(numbered.map(\.escaped).joined(separator: ", ")).")
    }
  }

  /// Says which archive is restored: the state, or the newest of the history that can be read.
  private mutating func explainSource(_ history: StoredHistory) throws -> StateReading? {
    let candidates = history.entries.filter { $0.place.moment?.reason.isRestorable ?? true }
    guard !candidates.isEmpty else {
      add("source", "Nothing is stored. The app starts afresh.")
      status = .nothingStored
      return nil
    }
    for entry in candidates {
      let file = entry.place.fileName.escaped
      let isState = entry.place.moment == nil
      let reading =
        try isState
        ? history.reading : entry.state.map { try StateReading(of: $0, at: entry.place) }
      if let extent = entry.state?.archive.extent, isState, entry.error == nil,
        extent.snapshotRecordCount + extent.changeCount == 0
      {
        add("source", "The state \(file) is empty, as after a discard. The app starts afresh.")
        return nil
      }
      if let reading, reading.failure == nil {
        let date = reading.state.facts?.savedAt?.text ?? "some time"
        add(
          "source", "The \(isState ? "state" : "older state") \(file) is restored, saved \(date).")
        explainEnd(entry)
        return reading
      }
      status = .damaged
      let error = entry.error ?? reading?.failure
      add("passed", "\(file) is passed over: \(error?.phrase ?? "it is gone").")
    }
    add(
      "source",
      "None can be read. The restore throws, and the next save keeps the state in the history.")
    return nil
  }

  private mutating func explainEnd(_ entry: StoredHistory.Entry) {
    guard let dropped = entry.dropped else { return }
    status = .damaged
    add(
      "journal",
      "The end of the journal is left out (\(dropped.phrase)). "
        + (dropped.code == .truncated
          ? "It is of a save that did not return."
          : "The next save keeps the state in the history, and writes a new one."))
  }

  private mutating func explainCrashes(
    _ source: StateReading, at place: StatePlace, _ key: ArchiveKey
  ) throws {
    let launches = try StoredLaunches(
      in: place.directory, named: place.name, of: place.application, before: source.state,
      source.outline, with: key)
    let version = launches.applicationVersion.map { " by version \($0.escaped)" } ?? ""
    switch launches.crashCount {
    case 0: add("crashes", "No restore of this state crashed last.")
    case ..<Self.crashThreshold:
      add(
        "crashes",
        "\(launches.crashCount.of("restore"))\(version) crashed; the next one leaves nothing out.")
    default:
      add(
        "crashes",
        "\(launches.crashCount) restores\(version) crashed in a row. The next one by that"
          + " version leaves out the element that crashed; after further crashes what is above"
          + " it, and then the whole state, which goes to the history.")
    }
    for path in launches.skipped {
      add("left out", "\(path.description.escaped) is left out, since restores crashed in it.")
    }
  }

  private mutating func explainElements(_ outline: StoredState.Outline) {
    struct Class: Hashable {
      let name: String
      let restorationName: String?
      let version: Int
    }
    var classes: [Class: Int] = [:]
    var (kept, unread, windows) = (0, 0, 0)
    outline.forEach { element in
      if element.role == .scene {
        // The library makes it.
        windows += 1
      } else {
        classes[
          Class(
            name: element.className, restorationName: element.restorationClassName,
            version: element.version), default: 0] += 1
      }
      if element.kept != nil { kept += 1 }
      unread += element.unread.count
    }
    add(
      "elements", "\(outline.count.of("element")) to be found or made, and decoded, parents first.")
    for (type, count) in classes.sorted(by: { ($1.value, $0.key.name) < ($0.value, $1.key.name) })
      .prefix(Self.shownClassCount)
    {
      let maker = type.restorationName.map {
        $0 == type.name ? ", registered" : ", made by \($0.escaped)"
      }
      add("class", "\(count) of \(type.name.escaped) with version \(type.version)\(maker ?? "").")
    }
    explainMaking(Set(classes.keys.map { type in type.restorationName.map { $0 == type.name } }))
    if windows > 0 {
      add("windows", "\(windows.of("window")), each to be shown when it is connected; see windows.")
    }
    let values = outline.values.count { !$0.isUnread }
    unread += outline.values.count - values
    if values > 0 {
      add("values", "\(values.of("value")) with @Restored, each decoded when it is first read.")
    }
    if kept > 0 { add("kept", "\(kept.of("element")) not back before, to be tried again.") }
    if unread > 0 {
      add("unread", "\(unread.of("state")) that no object has read yet, to be tried again.")
    }
    if outline.problemCount > 0 {
      status = .damaged
      add(
        "problems",
        "\(outline.problemCount.of("record")) that cannot be used. The rest is restored, and the next"
          + " save keeps a copy of the whole in the history.")
    }
  }

  /// Says once how elements are made, for the ways that the classes need.
  ///
  /// - Parameter ways: True for a registered class, false for another class that makes the
  ///   elements, and nil for none.
  private mutating func explainMaking(_ ways: Set<Bool?>) {
    guard !ways.isEmpty else { return }
    var sentences: [String] = []
    if ways.contains(true) {
      sentences.append(
        "What is registered is made by its closure or class, or is a root that the app passes in.")
    }
    if ways.contains(false) {
      sentences.append("A class that makes others does so if the app registers it.")
    }
    if ways.contains(nil) {
      sentences.append(
        "\(ways.count > 1 ? "What else there is" : "It") must be there, or be made by a closure, the"
          + " delegate or a storyboard.")
    }
    sentences.append("A version that the app does not know yet is kept and not decoded.")
    add("making", sentences.joined(separator: " "))
  }

  func write(_ json: JSONWriter) throws {
    try json.array {
      for finding in findings {
        try json.object {
          try json.field("topic", finding.topic)
          try json.field("sentence", finding.sentence)
        }
      }
    }
  }
}

extension Int {
  /// So many of something.
  func of(_ name: String) -> String { "\(self) \(name)\(self == 1 ? "" : "s")" }
}
