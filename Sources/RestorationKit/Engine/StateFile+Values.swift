internal import ArchiveCodec
internal import RestorationFoundation

extension StateFile {
  /// Stores values without the nodes of the state.
  ///
  /// The call changes a state that was restored or written here, or begins a state of the app where
  /// there is none. In any other case, as where an archive has to be set aside first, nothing is
  /// stored. The next save of the nodes writes the whole state.
  ///
  /// - Parameters:
  ///   - values: The values.
  ///   - environment: The app, for a state that begins.
  ///   - now: The time of the save.
  ///   - isLast: Whether the process ends: the state is claimed if need be, and later saves of this
  ///     process do not count any more.
  /// - Returns: Whether they are stored.
  /// - Throws: `ArchiveError`, as a save.
  func store(
    _ values: ValueStore, of environment: ApplicationEnvironment, now: Date, isLast: Bool
  ) async throws(ArchiveError) -> Bool {
    // An app that goes on may have let the state go.
    guard files.link == nil, lastNumber < .max, isLast || claim.taken != nil else { return false }
    let taken = try await take()
    if let known = files.archive.known, open.builder(changing: known) == nil {
      await prepareChanges(of: known, isLast: isLast)
    }
    // From here to the write nothing is awaited, so no save comes between.
    guard files.launch.restore == nil, files.archive.replacing == .previous, lastNumber < .max
    else { return false }
    let time = SaveFacts.number(of: now)
    guard try files.archive.find() != nil else {
      // A state that was discarded or declined here stays away.
      guard files.archive.known == nil, lastNumber == 0, source.suffix.isEmpty else { return false }
      let change = values.change
      guard !change.contents.isEmpty else { return false }
      let records = try change.records(of: environment, now: now, source.limits)
      return try await write(
        records, number: isLast ? .max : nil, time: time) != nil
    }
    guard let known = files.archive.known, known.generation < .max,
      let builder = open.builder(changing: known),
      let writer = open.writer(with: try currentKey(creating: false), taken.lock)
    else { return false }
    do throws(any Error) {
      let archive = try files.opener.open(files.archive.storage)
      guard let archive, archive.version == known else { return false }
      if let removed = try values.change.append(to: builder, changing: archive) {
        let change = StateChange(
          version: known, records: try builder.finish(), removed: removed, time: time)
        _ = try files.archive.append(change, with: writer)
        if isLast { lastNumber = .max }
      }
      return true
    } catch {
      throw .content(error)
    }
  }
}

extension ValueChange {
  /// The records of a state that has only values.
  fileprivate func records(
    of environment: ApplicationEnvironment, now: Date, _ limits: ArchiveLimits
  ) throws(ArchiveError) -> RecordBatch {
    do {
      let builder = RecordBuilder(limits: limits)
      try builder.append(record: NodeRecord.application) { encoder in
        encoder.encodeContainer(forKey: NodeRecord.stateKey) { _ in }
        encoder.encodeContainer(forKey: NodeRecord.factsKey) {
          environment.encode(with: $0, timestamp: now)
        }
      }
      _ = try append(to: builder, changing: nil)
      return try builder.finish()
    } catch {
      throw .content(error)
    }
  }
}
