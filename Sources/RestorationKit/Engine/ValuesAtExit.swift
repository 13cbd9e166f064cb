internal import ArchiveCodec
internal import RestorationFoundation

extension FileQueue {
  /// Appends the values that have changed, for an actor that is busy or gone.
  ///
  /// A change of the actor that was not begun comes too late then, and is made anew.
  func store(_ values: ValueTable, at now: Date) async throws(ArchiveError) {
    guard file.claimed != nil, values.hasChanged else { return }
    _ = try await fetch(for: .save, (file.conditions.policy, now))
    if try append(values) { _ = await send(after: .save) }
  }

  /// Appends the values; returns whether there are any.
  private func append(_ values: ValueTable) throws(ArchiveError) -> Bool {
    // No change of the actor is the one that is there: another call may run as soon as this one has ended.
    defer { written = Written(number: written.number) }
    do {
      let writer = try file.openWriter()
      let builder = writer?.builder() ?? RecordBuilder(limits: file.source.limits)
      let (removed, changes) = values.write(to: builder)
      if removed.isEmpty, changes.isEmpty { return false }
      // A state that begins with values, or that was discarded, has no head.
      if try writer?.archive?.record(TreeRecord.forms) == nil {
        var head = DocumentHead()
        head.facts = file.source.environment.facts
        try builder.writeHead(head)
      }
      _ = try append(
        written.number + 1, builder.finish(), hasNew: false, removing: removed,
        isCompactionDue: false)
      values.settle(changes)
      return true
    } catch {
      throw .content(error)
    }
  }
}

/// Stores the values of the process, on a thread on which no node can be asked.
package enum ValuesAtExit {
  /// Whether the process has any values.
  static var isNeeded: Bool { RestorationSession.current.values.isUsed }

  /// Blocks the thread until the values are stored.
  ///
  /// - Parameters:
  ///   - values: The values; by default those of the process, or of the running test.
  ///   - limit: How long the call waits at most.
  package static func store(
    _ values: ValueTable = RestorationSession.current.values, within limit: Duration
  ) {
    guard let file = values.file else { return }
    // Nobody is left to be told of an error. The stored state is as it was.
    _ = Blocking.call(until: .now + limit.bounded) { () async throws(ArchiveError) in
      try await file.store(values, at: Date())
    }
  }
}
