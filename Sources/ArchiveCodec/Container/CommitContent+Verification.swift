extension CommitContent {
  /// Goes through all frames; known frames must be where the index and the footer say,
  /// and unknown ones must be skippable.
  ///
  /// Every chunk is read, which also proves that every chunk is as it was sealed.
  func visitAll(
    _ visit: (IndexEntry, inout ContentWindow) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try visitFrames(of: try entriesInOrder(), from: 0, visit)
  }

  /// The entries of the records in the order in which they lie in the content.
  func entriesInOrder() throws(ArchiveError) -> [IndexEntry] {
    var entries = try index()
    if entries.contains(where: \.isRemoval) {
      let removals = entries.filter(\.isRemoval)
      entries.removeAll(where: \.isRemoval)
      guard removals.allSatisfy({ $0.offset == 0 }) else {
        try checkByteCount(of: entries)
        throw ArchiveError(.malformed, subject: "index")
      }
    }
    try checkByteCount(of: entries)
    // Most records were written in the order of their identifiers.
    if zip(entries, entries.dropFirst()).contains(where: { $0.offset >= $1.offset }) {
      entries.sort { $0.offset < $1.offset }
    }
    return entries
  }

  private func checkByteCount(of entries: [IndexEntry]) throws(ArchiveError) {
    guard entries.reduce(0, { $0 + $1.byteCount }) == footer.recordByteCount else {
      throw ArchiveError(.malformed, subject: "footer")
    }
  }

  /// Goes through the frames from a position on, of which the first belong to the
  /// entries.
  func visitFrames(
    of entries: [IndexEntry], from start: Int,
    _ visit: (IndexEntry, inout ContentWindow) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    var entries = entries[...]
    var window = ContentWindow(reader)
    var position = start
    var due = [FrameKind.symbols, .index]
    while position < footerStart {
      let frame = try frame(at: position, in: &window)
      switch FrameKind(rawValue: frame.kind) {
      case .record:
        guard let entry = entries.popFirst(), entry.offset == position,
          entry.byteCount == frame.payload.count
        else { throw misplaced(frame.payload) }
        try visit(entry, &window)
      case .symbols:
        guard entries.isEmpty, due.first == .symbols, frame.payload == footer.symbols else {
          throw misplaced(frame.payload)
        }
        due.removeFirst()
      case .index:
        guard due == [.index], frame.payload == footer.index else {
          throw misplaced(frame.payload)
        }
        due.removeFirst()
      case .footer: throw misplaced(frame.payload)
      case nil:
        guard frame.kind.isMultiple(of: 2) else {
          throw ArchiveError(.unsupportedFeature, offset: position, subject: "frame \(frame.kind)")
        }
        try reader.verify(frame.payload)
      }
      position = frame.payload.upperBound
    }
    guard due.isEmpty, position == footerStart else { throw misplaced(position..<position) }
  }

  private func misplaced(_ payload: Range<Int>) -> ArchiveError {
    ArchiveError(.malformed, offset: payload.lowerBound, subject: "frame")
  }

  private func frame(
    at position: Int, in window: inout ContentWindow
  ) throws(ArchiveError) -> (kind: UInt8, payload: Range<Int>) {
    let range = position..<min(position + FrameKind.longestHeader, footerStart)
    let place = try window.load(range)
    let bytes = window.bytes.span
    var header = ByteCursor(bytes, from: place, to: place + range.count)
    let kind = try header.readByte(bytes)
    let length = try header.readVarint(bytes)
    let start = position + header.offset - place
    guard length <= UInt64(footerStart - start) else { throw misplaced(start..<start) }
    return (kind, start..<start + Int(length))
  }
}
