internal import Dispatch
internal import Synchronization

extension Archive {
  /// Checks every byte and every record, on all cores.
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
    var records =
      if let parallel = try? SnapshotParts(self, workerCount: workerCount)?.read() {
        parallel
      } else {
        // Records that the parts leave out, or found to be wrong, are read in order. So
        // the error that is thrown does not depend on which part found one first.
        try snapshotInOrder()
      }
    visitJournal { records.append($0, $1) }
    return records
  }

  /// Checks the snapshot from front to back.
  private func snapshotInOrder() throws(ArchiveError) -> VerifiedRecords {
    var records = VerifiedRecords()
    try visitSnapshot { entry, checked throws(ArchiveError) in
      records.append(entry, checked)
    }
    return records
  }
}

/// The snapshot of an archive in parts, each of several chunks, that are opened
/// and checked independently of each other.
///
/// The records of a snapshot follow each other from its beginning on. Any other
/// snapshot is left to the reading in order.
private struct SnapshotParts: Sendable {
  private let archive: Archive
  private let content: CommitContent
  /// The entries in the order of the content.
  private let entries: [IndexEntry]
  private let workerCount: Int
  private let chunksPerPart: Int
  private let count: Int

  /// A smaller part is done before another thread has begun.
  private static let leastChunkCount = 4
  /// Several parts for each worker, so that none waits for long when one is slower.
  private static let partsPerWorker = 4
  private static let largestByteCount = 1 << 24

  /// Nil if the records do not follow each other without gaps.
  init?(_ archive: Archive, workerCount: Int?) throws(ArchiveError) {
    self.archive = archive
    content = archive.history.snapshot
    entries = try content.entriesInOrder()
    var position = 0
    for entry in entries {
      guard entry.offset == position else { return nil }
      position = entry.frameRange.upperBound
    }
    guard position <= content.footer.symbols.lowerBound else { return nil }
    let reader = content.reader
    let isShared = reader.chunkCount > Self.leastChunkCount
    self.workerCount = isShared ? workerCount ?? ProcessorCount.value : 1
    let share = reader.chunkCount / (max(self.workerCount, 1) * Self.partsPerWorker)
    chunksPerPart = min(
      max(share, Self.leastChunkCount), max(Self.largestByteCount / reader.chunkByteCount, 1))
    count = (reader.chunkCount + chunksPerPart - 1) / chunksPerPart
  }

  private struct Part: Sendable {
    let block: RecordBlock
    var records: VerifiedRecords
  }

  /// All records; nil if something is wrong.
  func read() throws(ArchiveError) -> VerifiedRecords? {
    guard let found = count == 1 || workerCount < 2 ? partsInOrder() : partsAtOnce() else {
      return nil
    }
    let end = entries.last?.frameRange.upperBound ?? 0
    try content.visitFrames(of: [], from: end) { _, _ in }
    return try join(found)
  }

  private func partsInOrder() -> [Part]? {
    var parts: [Part] = []
    for number in 0..<count {
      guard let part = try? part(number) else { return nil }
      parts.append(part)
    }
    return parts
  }

  private func partsAtOnce() -> [Part]? {
    let parts = Mutex<[Part?]>(Array(repeating: nil, count: count))
    let hasFailed = Atomic(false)
    DispatchQueue.concurrentPerform(iterations: count) { number in
      guard !hasFailed.load(ordering: .relaxed) else { return }
      if let part = try? part(number) {
        parts.withLock { $0[number] = part }
      } else {
        hasFailed.store(true, ordering: .relaxed)
      }
    }
    let found = parts.withLock { $0 }.compactMap(\.self)
    return found.count == count ? found : nil
  }

  /// The entries of the records that lie entirely in one part.
  private func entries(of number: Int) -> ArraySlice<IndexEntry> {
    let size = chunksPerPart * content.reader.chunkByteCount
    let first = entries.countOfLeading { $0.offset < number * size }
    let end = entries.countOfLeading { $0.frameRange.upperBound <= (number + 1) * size }
    return entries[min(first, end)..<end]
  }

  private func part(_ number: Int) throws(ArchiveError) -> Part {
    let chunks =
      number * chunksPerPart..<min((number + 1) * chunksPerPart, content.reader.chunkCount)
    let block = RecordBlock(
      try content.reader.open(chunks), symbols: archive.history.symbols, limits: archive.limits)
    let start = chunks.lowerBound * content.reader.chunkByteCount
    var records = VerifiedRecords()
    records.reserve(entries(of: number).count)
    try check(entries(of: number), in: block, from: start, &records)
    return Part(block: block, records: records)
  }

  /// Checks records in a block, which begins at an offset of the content; throws if a
  /// frame differs from its index entry.
  private func check(
    _ entries: some Sequence<IndexEntry>, in block: RecordBlock, from start: Int,
    _ records: inout VerifiedRecords
  ) throws(ArchiveError) {
    var validator = RecordValidator(symbols: block.symbols, limits: archive.limits)
    let changes = archive.history.changes
    let stored = block.bytes
    let bytes = stored.span
    for entry in entries {
      let place = entry.offset - start
      let frame = bytes.extracting(place..<min(place + entry.frameRange.count, bytes.count))
      _ = try content.mapOffset(entry, frame)
      guard changes.isEmpty || changes[entry.record] == nil else { continue }
      do throws(ArchiveError) {
        try content.checkPlace(of: entry)
        try validator.validate(frame, from: entry.mapOffset)
        records.append(entry, .success(CheckedRecord(block: block, start: place)))
      } catch {
        records.append(entry, .failure(error))
      }
    }
  }

  /// Joins the parts, and adds the records that lie in several of them.
  private func join(_ parts: [Part]) throws(ArchiveError) -> VerifiedRecords? {
    if parts.count == 1, self.entries(of: 0).count == entries.count { return parts[0].records }
    var all = VerifiedRecords()
    all.reserve(entries.count)
    var next = entries.startIndex
    for (number, part) in parts.enumerated() {
      let own = entries(of: number)
      all.append(part.records)
      next = max(next, own.endIndex)
      guard next < entries.endIndex else { continue }
      let entry = entries[next]
      let end = (number + 1) * chunksPerPart * content.reader.chunkByteCount
      guard entry.offset < end, self.number(of: entry.offset) == number else { continue }
      try append(entry, lyingIn: parts, to: &all)
      next += 1
    }
    return next == entries.endIndex ? all : nil
  }

  private func number(of offset: Int) -> Int {
    offset / (chunksPerPart * content.reader.chunkByteCount)
  }

  /// Adds a record that lies in several parts.
  private func append(
    _ entry: IndexEntry, lyingIn parts: [Part], to records: inout VerifiedRecords
  ) throws(ArchiveError) {
    let size = chunksPerPart * content.reader.chunkByteCount
    // For a record over the limit only the header is put together and checked.
    let byteCount =
      entry.byteCount > archive.limits.recordByteCount ? entry.mapOffset : entry.frameRange.count
    let range = entry.offset..<entry.offset + byteCount
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    for number in number(of: range.lowerBound)...number(of: range.upperBound - 1) {
      let start = number * size
      let part = parts[number].block.bytes
      bytes += part[max(range.lowerBound - start, 0)..<min(range.upperBound - start, part.count)]
    }
    let block = RecordBlock(
      bytes, symbols: archive.history.symbols, limits: archive.limits)
    try check([entry], in: block, from: entry.offset, &records)
  }
}
