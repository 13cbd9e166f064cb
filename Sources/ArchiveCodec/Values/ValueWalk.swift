/// Goes through checked values in stored order, a container before what is in it.
///
/// The open containers are a list, so depth costs no call stack.
struct ValueWalk {
  enum Step {
    /// A value, with its key if it is an entry of a map. The elements of a container come next.
    case value(ValueReader, key: ValueKey?)
    /// The container that has begun last, and has not ended, ends.
    case end(isMap: Bool)
  }

  private var levels: [(isMap: Bool, rest: Range<Int>)]

  /// Begins before the entries of a map, or before values in a row.
  init(_ values: Range<Int>, isMap: Bool = false) {
    levels = [(isMap, values)]
  }

  /// Nil behind the last value.
  mutating func next(in bytes: Span<UInt8>) throws(ArchiveError) -> Step? {
    guard var level = levels.popLast() else { return nil }
    guard !level.rest.isEmpty else { return levels.isEmpty ? nil : .end(isMap: level.isMap) }
    var cursor = ByteCursor(bytes, over: level.rest)
    let key = level.isMap ? try cursor.readKey(bytes) : nil
    let value = try ValueReader(bytes, at: cursor.offset)
    level.rest = value.end..<level.rest.upperBound
    levels.append(level)
    let header = value.header
    if header.isContainer { levels.append((header.kind == .map, header.payload)) }
    return .value(value, key: key)
  }
}
