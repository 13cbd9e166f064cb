import ArchiveCodec

/// What a file with a journal must hold, whatever happened to it.
struct JournalModel {
  private let storage = MemoryStorage()
  private var writer: ArchiveWriter?
  /// What the writers wrote, without any damage.
  private var written: [UInt8] = []
  /// The state after each commit of the file.
  private var states: [State] = []
  /// Versions that were cut off and then changed in another way.
  private var abandoned: [ArchiveVersion] = []

  private struct State {
    let version: ArchiveVersion
    let end: Int
    let texts: [UInt64: String]
  }

  // MARK: - Operations

  mutating func change(record: Int, text: Int, newKey: Bool) throws(Finding) {
    let identifier = UInt64(record % 6 + 1)
    let text = String(repeating: "x", count: text * text / 8)
    try append { builder in
      try builder.append(record: identifier) { encoder in
        encoder.encode(text, forKey: "text")
        if newKey { encoder.encode(true, forKey: "key \(record)") }
      }
    } changing: {
      $0[identifier] = text
    }
  }

  mutating func remove(_ records: [Int]) throws(Finding) {
    let removed = Set(records.map { UInt64($0 % 6 + 1) })
    try append(removing: Array(removed)) { _ in
    } changing: { texts in
      for record in removed { texts[record] = nil }
    }
  }

  /// Closes the writer and changes the bytes behind its back.
  mutating func damage(_ body: (inout [UInt8]) -> Void) throws(Finding) {
    writer = nil
    guard var bytes = storage.bytes else { return }
    body(&bytes)
    storage.bytes = bytes
  }

  mutating func reopen() throws(Finding) {
    writer = nil
    _ = try openWriter()
  }

  mutating func compact() throws(Finding) {
    guard let writer = try openWriter() else { return }
    let previous = writer.archive?.version
    do {
      try writer.compact()
    } catch {
      throw Finding("not compacted: \(error)")
    }
    try noteWritten(by: writer, after: previous) { _ in }
  }

  /// Appends a part of an earlier commit, or of itself and what follows.
  mutating func repeatCommit(_ number: Int, prefix: Int) throws(Finding) {
    guard !states.isEmpty else { return }
    let start = states[number % states.count].end
    let repeated = written[start...].prefix(prefix * 4)
    try damage { $0 += repeated }
  }

  // MARK: - Writing

  /// The state whose bytes are intact; nil if the snapshot is not.
  private var intact: Int? {
    let bytes = storage.bytes ?? []
    let same = zip(bytes, written).prefix { $0 == $1 }.count
    return states.lastIndex { $0.end <= same }
  }

  /// A writer over what is intact, of a new file if nothing is.
  private mutating func openWriter() throws(Finding) -> ArchiveWriter? {
    if let writer { return writer }
    let intact = intact
    if intact == nil { startAfresh() }
    do {
      let opened = try ArchiveWriter(
        storage, with: .key(FuzzArchive.key), context: FuzzArchive.context)
      writer = opened
      try promise(
        opened.archive?.version == intact.map { states[$0].version }, "another version to write")
      return opened
    } catch let finding as Finding {
      throw finding
    } catch {
      throw Finding("no writer: \(error)")
    }
  }

  private mutating func startAfresh() {
    storage.bytes = nil
    written = []
    states = []
    abandoned = []
  }

  private mutating func append(
    removing removed: [UInt64] = [], _ encode: (RecordBuilder) throws -> Void,
    changing change: (inout [UInt64: String]) -> Void
  ) throws(Finding) {
    guard let writer = try openWriter() else { return }
    let previous = writer.archive?.version
    do {
      let builder = writer.builder()
      try encode(builder)
      try writer.append(try builder.finish(), removing: removed)
    } catch {
      throw Finding("not appended: \(error)")
    }
    try noteWritten(by: writer, after: previous, change)
  }

  /// What was left out is cut off with the first change, and not before.
  private mutating func abandonStates(after version: ArchiveVersion?) {
    guard let kept = states.firstIndex(where: { $0.version == version }) else { return }
    abandoned += states[(kept + 1)...].map(\.version)
    states.removeSubrange((kept + 1)...)
  }

  private mutating func noteWritten(
    by writer: ArchiveWriter, after previous: ArchiveVersion?,
    _ change: (inout [UInt64: String]) -> Void
  ) throws(Finding) {
    guard let archive = writer.archive, let bytes = storage.bytes else {
      return try promise(states.isEmpty, "nothing written")
    }
    abandonStates(after: previous)
    var texts = states.last?.texts ?? [:]
    change(&texts)
    try promise(
      archive.version.generation > states.last?.version.generation ?? 0, "no new generation")
    if let first = states.first, bytes.starts(with: written[..<first.end]) {
      try promise(
        bytes.starts(with: written[..<(states.last?.end ?? 0)]), "earlier commits changed")
    } else {
      states = []
      abandoned = []
    }
    written = bytes
    states.append(State(version: archive.version, end: bytes.count, texts: texts))
  }

  // MARK: - Checking

  func check() throws(Finding) {
    guard let bytes = storage.bytes else { return try promise(states.isEmpty, "lost") }
    let intact = intact
    let isWhole = intact.map { states[$0].end == bytes.count } ?? false
    for recovery in [ArchiveRecovery.strict, .recover] {
      let read = Result { () throws(ArchiveError) in try Self.read(bytes, recovery) }
      switch read {
      case .success(let (archive, texts)):
        guard let intact, isWhole || recovery == .recover else {
          throw Finding("damage was not seen")
        }
        try promise(archive.version == states[intact].version, "another version")
        try promise(texts == states[intact].texts, "another state")
        try promise(
          (archive.dropped == nil) == isWhole, "dropped is \(String(describing: archive.dropped))")
        try checkVerdicts(archive, intact)
      case .failure(let error):
        try promise(
          intact == nil || (recovery == .strict && !isWhole), "an intact state is \(error)")
        try promise(error.code != .malformed, "damage was parsed: \(error)")
      }
    }
  }

  private func checkVerdicts(_ archive: Archive, _ intact: Int) throws(Finding) {
    for (place, state) in states.enumerated() {
      try promise(
        archive.verdict(against: state.version) == (place <= intact ? .ok : .rollback),
        "the verdict on state \(place)")
    }
    for version in abandoned {
      try promise(
        archive.verdict(against: version)
          == (version.generation > archive.version.generation ? .rollback : .fork),
        "the verdict on an abandoned state")
    }
  }

  private static func read(
    _ bytes: [UInt8], _ recovery: ArchiveRecovery
  ) throws(ArchiveError) -> (Archive, [UInt64: String]) {
    let archive = try Archive.open(
      MemoryStorage(bytes), key: FuzzArchive.key, context: FuzzArchive.context,
      recovery: recovery)
    guard let archive else { throw ArchiveError(.inputOutput) }
    var texts: [UInt64: String] = [:]
    for record in try archive.readAll() {
      texts[record.identifier] = try record.content.get().decode(forKey: "text")
    }
    return (archive, texts)
  }
}
