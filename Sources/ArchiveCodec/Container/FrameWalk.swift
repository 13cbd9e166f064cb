/// Goes through the frames of a commit: known frames must be where the index and the footer say, and unknown
/// ones must be skippable.
///
/// Every chunk is read, which also proves that every chunk is as it was sealed.
struct FrameWalk: ~Copyable {
  private let content: CommitContent
  /// The records that come, in the order of the content; nil before the index was read.
  private var entries: ArraySlice<IndexEntry>?
  private var position: Int
  private var due: [FrameKind] = [.symbols, .index]
  var window: ContentWindow

  /// Begins behind all records, at a position; at the beginning if it is nil.
  init(_ content: CommitContent, behindRecordsFrom position: Int? = nil) {
    self.content = content
    entries = position.map { _ in [] }
    self.position = position ?? 0
    window = ContentWindow(content.commit)
  }

  /// The next record; nil behind the last frame.
  mutating func next() throws(ArchiveError) -> IndexEntry? {
    if entries == nil { entries = try content.entriesInOrder()[...] }
    while position < content.footerStart {
      let start = position
      let (kind, payload) = try frame()
      position = payload.upperBound
      switch FrameKind(rawValue: kind) {
      case .record:
        guard let entry = entries?.popFirst(), entry.offset == start,
          entry.byteCount == payload.count
        else { throw misplaced(payload) }
        return entry
      case .symbols:
        guard entries?.isEmpty == true, due.first == .symbols, payload == content.footer.symbols
        else {
          throw misplaced(payload)
        }
        due.removeFirst()
      case .index:
        guard due == [.index], payload == content.footer.index else { throw misplaced(payload) }
        due.removeFirst()
      case .footer: throw misplaced(payload)
      case nil:
        guard kind.isMultiple(of: 2) else {
          throw ArchiveError(.unsupportedFeature, offset: start, subject: "frame \(kind)")
        }
        try content.commit.verify(payload)
      }
    }
    guard due.isEmpty, position == content.footerStart else {
      throw misplaced(position..<position)
    }
    return nil
  }

  private func misplaced(_ payload: Range<Int>) -> ArchiveError {
    ArchiveError(.malformed, offset: payload.lowerBound, subject: "frame")
  }

  private mutating func frame() throws(ArchiveError) -> (kind: UInt8, payload: Range<Int>) {
    let end = min(position + FrameKind.longestHeader, content.footerStart)
    let place = try window.load(position..<end)
    let bytes = window.bytes.span
    var header = ByteCursor(bytes, from: place, to: place + end - position)
    let kind = try header.readByte(bytes)
    let length = try header.readVarint(bytes)
    let start = position + header.offset - place
    guard length <= UInt64(content.footerStart - start) else { throw misplaced(start..<start) }
    return (kind, start..<start + Int(length))
  }
}

extension CommitContent {
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
}
