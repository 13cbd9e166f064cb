/// Copies a checked value from one record to another.
struct ValueCopy {
  let source: KeyedDecoder
  let writer: ValueWriter
  let reference: (UInt64) -> UInt64?

  private enum Container {
    case array(start: Int, count: Int)
    case map(OpenMap)
  }

  /// False for a reference that is to be left out.
  func isKept(_ header: ValueHeader) -> Bool {
    guard case .recordReference(let record) = header.kind else { return true }
    return reference(record) != nil
  }

  func copy(_ value: ValueReader) throws(ArchiveError) {
    let block = source.block.bytes
    let bytes = block.span.extracting(source.record)
    var open: [Container] = []
    var walk = ValueWalk(value.offset..<value.end)
    while let step = try walk.next(in: bytes) {
      switch step {
      case .end:
        if let container = open.popLast() { close(container) }
      case .value(let value, let key) where isKept(value.header):
        if var container = open.popLast() {
          try begin(key, in: &container)
          open.append(container)
        }
        if let container = write(value) { open.append(container) }
      case .value: break
      }
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

  /// Writes a value; of a container only the beginning, and returns it.
  private func write(_ value: ValueReader) -> Container? {
    switch value.header.kind {
    case .array: return .array(start: writer.openContainer(), count: 0)
    case .map: return .map(OpenMap(in: writer))
    case .recordReference(let record):
      if let record = reference(record) { writer.writeReference(to: record) }
    case .name:
      if let name = value.header.key { writer.write(name: source.text(of: name)) }
    default:
      let record = source.block.bytes[source.record]
      writer.output.write(
        record[record.startIndex + value.offset..<record.startIndex + value.end])
    }
    return nil
  }
}
