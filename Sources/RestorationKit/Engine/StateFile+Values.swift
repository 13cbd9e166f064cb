internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StateFile {
  /// Stores values at the end of the process, without the nodes of the state.
  ///
  /// The call changes a state that was restored or written here, or begins a state of the app where
  /// there is none. In any other case, as where an archive has to be set aside first, nothing is
  /// stored. Later saves of this process do not count any more.
  ///
  /// - Parameters:
  ///   - change: The values.
  ///   - environment: The app, for a state that begins.
  ///   - now: The time of the save.
  /// - Returns: Whether they are stored.
  /// - Throws: `ArchiveError`, as a save.
  func store(
    _ change: ValueChange, of environment: ApplicationEnvironment, now: Date
  ) async throws(ArchiveError) -> Bool {
    guard files.link == nil, files.launch.restore == nil, files.archive.replacing == .previous,
      lastNumber < .max
    else {
      return false
    }
    let taken = try await take()
    guard try files.archive.find() != nil else {
      guard files.archive.known == nil, source.suffix.isEmpty, !change.contents.isEmpty else {
        return false
      }
      let records = try change.records(of: environment, now: now, source.limits)
      return try await write(records, number: .max, time: SaveFacts.number(of: now)) != nil
    }
    guard let known = files.archive.known, known.generation < .max else { return false }
    if open.builder(changing: known) == nil { await prepareChanges(of: known, isLast: true) }
    guard let builder = open.builder(changing: known),
      let writer = open.writer(with: try currentKey(creating: false), taken.lock)
    else { return false }
    do throws(any Error) {
      let archive = try files.opener.open(files.archive.storage)
      guard let archive, archive.version == known else { return false }
      guard let removed = try change.append(to: builder, changing: archive) else { return true }
      try writer.append(
        try builder.finish(), removing: removed, schema: SaveFacts.number(of: now))
      files.archive.known = writer.version
      lastNumber = .max
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
