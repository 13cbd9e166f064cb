internal import ArchiveCodec
internal import RestorationFoundation

/// The numbers and keys of the records of values, which no document has.
package enum ValueRecord {
  static let first: UInt64 = 3 << 62
  static let (windowKey, nameKey) = ("window", "key")

  static func contains(_ record: UInt64) -> Bool { record &- first < 1 << 61 }
}

/// A value as its record has it: whose it is, and what nobody need have decoded.
struct StoredValue: Sendable {
  let record: UInt64
  let name: ValueName
  let content: ValueContent

  /// Nil for a record of another form, whose bytes stay.
  init?(_ record: UInt64, in records: StoredRecords) {
    do {
      guard let values = try records.decoder(of: record) else { return nil }
      name = ValueName(
        window: try values.decodeIfPresent(forKey: ValueRecord.windowKey) ?? "",
        key: try values.decode(forKey: ValueRecord.nameKey))
      content = try ValueContent(copying: ValueContent.key, from: values)
      self.record = record
    } catch {
      return nil
    }
  }
}

extension LaunchMark {
  func leavesOut(_ name: ValueName) -> Bool {
    leavesAnyOut && isLeftOut(subject(ofValue: name.tag))
  }
}

extension StateKeeper {
  /// The values of the app and its windows.
  var values: ValueTable {
    get {
      let values = settings.values ?? ValueTable()
      if settings.values == nil { self.values = values }
      return values
    }
    set {
      settings.values = newValue
      newValue.begin(owner)
    }
  }

  /// Takes the values of a state, before any hook of the app may read one.
  func restoreValues(of stored: FileQueue.StoredState?, _ mark: LaunchMark?) {
    let windows = stored.map { stored in
      stored.document.scenes.map { stored.document[$0].place.name }
    }
    values.restore(stored?.values ?? [], of: Set(windows ?? []), in: file, mark)
  }
}

extension FileQueue {
  /// Appends the values that have changed, for an actor that is busy or gone.
  ///
  /// A change of the actor that was not begun comes too late then, and is made anew.
  func store(_ values: ValueTable, at now: Date) throws(ArchiveError) {
    guard file.claimed != nil else { return }
    file.conditions.now = now
    let writer = try file.openWriter()
    let builder = writer?.builder() ?? RecordBuilder(limits: file.source.limits)
    let change = values.write(to: builder, isAlone: true)
    defer { written = Written(number: written.number) }
    do {
      if change.taken.isEmpty { return }
      if writer == nil {
        var head = DocumentHead()
        head.facts = file.source.environment.facts
        try builder.writeHead(head)
      }
      _ = try append(
        written.number + 1, builder.finish(), hasNew: false, removing: change.removed,
        isCompactionDue: false)
    } catch {
      values.giveBack(change.taken)
      throw .content(error)
    }
  }
}

/// Stores the values of the process, on a thread on which no node can be asked.
enum ValuesAtExit {
  /// Whether the process has any values.
  static var isNeeded: Bool { RestorationSession.ofProcess.values.isUsed }

  /// Blocks the thread until the values are stored.
  ///
  /// - Parameters:
  ///   - limit: How long the call waits at most.
  ///   - isLast: Whether the process ends.
  static func store(within limit: Duration, isLast: Bool = false) {
    let values = RestorationSession.ofProcess.values
    guard let file = values.file else { return }
    // Nobody is left to be told of an error. The stored state is as it was.
    _ = Blocking.call(until: .now + limit.bounded) { () async throws(ArchiveError) in
      try await file.store(values, at: Date())
    }
  }
}
