internal import ArchiveCodec
internal import RestorationFoundation

/// What has changed of values, each with the number of its last change.
typealias ValueChanges = [ValueName: Int]

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
  var values: ValueTable { settings.values ?? use(ValueTable()) }

  @discardableResult
  func use(_ values: ValueTable) -> ValueTable {
    settings.values = values
    values.begin(owner)
    return values
  }
}

extension FileQueue {
  /// Appends the values that have changed, for an actor that is busy or gone.
  ///
  /// A change of the actor that was not begun comes too late then, and is made anew.
  func store(_ values: ValueTable, at now: Date) throws(ArchiveError) {
    guard file.claimed != nil, values.hasChanged else { return }
    file.conditions.now = now
    defer { written = Written(number: written.number) }
    do {
      let writer = try file.openWriter()
      let builder = writer?.builder() ?? RecordBuilder(limits: file.source.limits)
      let (removed, changes) = values.write(to: builder)
      if writer == nil {
        var head = DocumentHead()
        head.facts = file.source.environment.facts
        try builder.writeHead(head)
      }
      _ = try append(
        written.number + 1, builder.finish(), hasNew: false, removing: removed,
        isCompactionDue: false)
      values.settle(changes)
    } catch {
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
