internal import Dispatch
internal import Synchronization

extension Archive {
  /// Checks every record, on all cores.
  ///
  /// The order is that of ``readAll()``. The call blocks its thread, so it belongs to
  /// an executor that may wait.
  ///
  /// - Parameter workerCount: The number of cores; nil for all that there are. With one
  ///   the calling thread does all the work.
  /// - Returns: All records.
  /// - Throws: ``ArchiveError`` as ``readAll()``.
  /// - Complexity: As ``verifyAll()``; memory for the bytes of the snapshot and of
  ///   the journal, and some bytes for each record.
  package func verifiedRecords(
    workerCount: Int? = nil
  ) throws(ArchiveError) -> VerifiedRecords {
    var records = VerifiedRecords()
    var walk = RecordWalk(self)
    if let parts = try? verifiedParts(workerCount) {
      for part in parts { records.append(part) }
    } else {
      // Records that lie in another way, or are found to be wrong, are read in order. So
      // the error that is thrown does not depend on which part found one first.
      while let record = try walk.next() { records.append(record) }
    }
    while let record = walk.nextChange() { records.append(record) }
    return records
  }

  /// The records of the snapshot in parts that were opened and checked independently of each other.
  ///
  /// - Returns: Nil if the records do not follow each other from the beginning on, or if something is wrong.
  private func verifiedParts(_ workerCount: Int?) throws(ArchiveError) -> [VerifiedRecords]? {
    let content = history.snapshot
    let entries = try content.entriesInOrder()
    // A smaller part is done before another thread has begun.
    let leastByteCount = 4 * content.commit.chunkByteCount
    let isShared = content.commit.byteCount > leastByteCount
    let workerCount = isShared ? max(workerCount ?? ChunkSealer.processorCount, 1) : 1
    // Several parts for each worker, so that none waits for long when one is slower.
    let share = max(min(content.commit.byteCount / (workerCount * 4), 1 << 24), leastByteCount)
    var parts: [Range<Int>] = []
    var position = 0
    for (place, entry) in entries.enumerated() {
      guard entry.offset == position, entry.byteCount <= limits.recordByteCount else { return nil }
      position = entry.frameRange.upperBound
      let first = parts.last?.upperBound ?? 0
      if place == entries.count - 1 || position - entries[first].offset >= share {
        parts.append(first..<place + 1)
      }
    }
    guard position <= content.footer.symbols.lowerBound else { return nil }
    var rest = FrameWalk(content, behindRecordsFrom: position)
    guard try rest.next() == nil else { return nil }
    let found = Mutex(
      (parts: [VerifiedRecords?](repeating: nil, count: parts.count), isWhole: true))
    let places = parts
    @Sendable func check(_ number: Int) {
      guard found.withLock(\.isWhole) else { return }
      let part = try? verified(entries[places[number]])
      found.withLock { ($0.parts[number], $0.isWhole) = (part, $0.isWhole && part != nil) }
    }
    if workerCount > 1, parts.count > 1 {
      DispatchQueue.concurrentPerform(iterations: parts.count, execute: check)
    } else {
      for number in parts.indices { check(number) }
    }
    let all = found.withLock(\.parts).compactMap(\.self)
    return all.count == parts.count ? all : nil
  }

  /// Opens and checks records that follow each other; throws if a frame differs from its index entry.
  private func verified(
    _ entries: ArraySlice<IndexEntry>
  ) throws(ArchiveError) -> VerifiedRecords {
    var records = VerifiedRecords()
    guard let first = entries.first, let last = entries.last else { return records }
    let content = history.snapshot
    let size = content.commit.chunkByteCount
    let start = first.offset / size * size
    let block = RecordBlock(
      try content.commit.open(first.offset / size..<(last.frameRange.upperBound - 1) / size + 1),
      symbols: history.symbols, limits: limits)
    records.reserve(entries.count)
    var validator = RecordValidator(symbols: block.symbols, limits: limits)
    let stored = block.bytes
    let bytes = stored.span
    for entry in entries {
      let place = entry.offset - start
      let frame = bytes.extracting(place..<place + entry.frameRange.count)
      let mapOffset = try content.mapOffset(entry, frame)
      guard history.changes.isEmpty || history.changes[entry.record] == nil else { continue }
      do throws(ArchiveError) {
        try validator.validate(frame, from: mapOffset)
        records.append(entry.record, entry.byteCount, in: block, at: place)
      } catch {
        records.append(Record(entry, .failure(error)))
      }
    }
    return records
  }
}
