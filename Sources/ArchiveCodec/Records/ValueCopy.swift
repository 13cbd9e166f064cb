/// Copies a checked value from one record to another.
///
/// The open containers are a list, so depth costs no call stack.
struct ValueCopy {
  private let source: KeyedDecoder
  private let writer: ValueWriter
  private let reference: (UInt64) -> UInt64?

  private enum Container {
    case array(start: Int, count: Int)
    case map(OpenMap)
  }

  private struct Level {
    var container: Container
    /// The offset of the next element or entry.
    var next: Int
    let end: Int
  }

  init(
    from source: KeyedDecoder, to writer: ValueWriter, reference: @escaping (UInt64) -> UInt64?
  ) {
    self.source = source
    self.writer = writer
    self.reference = reference
  }

  /// False for a reference that is to be left out.
  func isKept(_ header: ValueHeader) -> Bool {
    guard case .recordReference(let record) = header.kind else { return true }
    return reference(record) != nil
  }

  func copy(_ value: ValueReader) throws(ArchiveError) {
    let block = source.block.bytes
    let span = block.span.extracting(source.record)
    var levels: [Level] = []
    try write(value.header, from: value.offset, &levels)
    while var level = levels.popLast() {
      guard level.next < level.end else {
        close(level.container)
        continue
      }
      var cursor = ByteCursor(span, from: level.next, to: level.end)
      var key: ValueKey?
      if case .map = level.container { key = try cursor.readKey(span) }
      let start = cursor.offset
      let header = try cursor.readValueHeader(span)
      level.next = cursor.offset
      let isKept = isKept(header)
      if isKept { try begin(key, in: &level.container) }
      levels.append(level)
      if isKept { try write(header, from: start, &levels) }
    }
  }

  /// Field names become symbols if there is room; keys of dictionaries stay inline.
  private func begin(_ key: ValueKey?, in container: inout Container) throws(ArchiveError) {
    switch container {
    case .array(let start, let count): container = .array(start: start, count: count + 1)
    case .map(var map):
      if case .inline(let range) = key {
        try map.writeKey(inline: source.text(of: .inline(range)), to: writer)
      } else if let key {
        try map.writeKey(source.text(of: key), to: writer)
      }
      container = .map(map)
    }
  }

  private func close(_ container: Container) {
    switch container {
    case .array(let start, let count): writer.closeContainer(.array, count: count, from: start)
    case .map(let map): map.close(in: writer)
    }
  }

  private func write(
    _ header: ValueHeader, from start: Int, _ levels: inout [Level]
  ) throws(ArchiveError) {
    let payload = header.payload
    switch header.kind {
    case .array, .map:
      levels.append(
        Level(
          container: header.kind == .map
            ? .map(OpenMap(in: writer)) : .array(start: writer.openContainer(), count: 0),
          next: payload.lowerBound, end: payload.upperBound))
    case .recordReference(let record):
      if let record = reference(record) { writer.writeReference(to: record) }
    case .name:
      if let name = header.key { writer.write(name: source.text(of: name)) }
    default:
      let record = source.block.bytes[source.record]
      writer.output.write(
        record[record.startIndex + start..<record.startIndex + payload.upperBound])
    }
  }
}
