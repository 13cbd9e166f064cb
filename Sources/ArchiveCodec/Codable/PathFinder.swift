/// Finds the keys and indices on the way to a value, which decoders know by its
/// offset.
///
/// A type that tries others in turns needs a path for each type that does not fit. So
/// the search goes on from the place where the last one ended; a large container is
/// read through once at most (benchmark: decode probed values).
struct PathFinder {
  private let bytes: [UInt8]
  /// Where the record lies in the bytes.
  private let record: Range<Int>
  private let symbols: SymbolTable
  /// Where the outermost value begins.
  private let root: Int
  /// The path that was found last, from the outermost value on.
  private var path: [any CodingKey]
  /// The elements on that path, outermost first.
  private var trail: [Element] = []
  /// The value that the path leads to.
  private var latest: Int
  /// The elements of containers that were searched for one far from the last one.
  private var known: [Int: ElementOffsets] = .init()
  /// A few headers are read as fast as an offset is found.
  private static let longestScan = 16

  private struct Element {
    let container: ValueReader
    let index: Int
    /// Where the element begins: in a map, its key.
    let start: Int
    let value: Range<Int>
  }

  init(
    _ bytes: [UInt8], _ record: Range<Int>, at root: Int, path: [any CodingKey],
    _ symbols: SymbolTable
  ) {
    self.bytes = bytes
    self.record = record
    self.symbols = symbols
    self.root = root
    self.path = path
    latest = root
  }

  /// The path to the value that begins at the offset.
  ///
  /// - Complexity: O(*d* log *n*) for *d* containers around the value, and once
  ///   O(*n*) for each container of *n* elements; O(1) for the next element.
  mutating func path(to target: Int) -> [any CodingKey] {
    guard target != latest else { return path }
    let block = bytes
    let bytes = block.span.extracting(record)
    while let last = trail.last, target < last.start || target >= last.container.end {
      trail.removeLast()
      path.removeLast()
    }
    if let last = trail.last, target >= last.value.upperBound {
      trail.removeLast()
      path.removeLast()
      append(
        element(of: last.container, last.index + 1, at: last.value.upperBound, target, in: bytes),
        in: bytes)
    }
    latest = target
    while true {
      let offset = trail.last?.value.lowerBound ?? root
      guard offset < target, let container = try? ValueReader(bytes, at: offset) else { break }
      if let size = container.packedElementByteCount {
        latest = offset
        return path + [PathKey.index((target - container.header.payload.lowerBound) / size)]
      }
      let first = container.header.payload.lowerBound
      guard append(element(of: container, 0, at: first, target, in: bytes), in: bytes) else {
        break
      }
    }
    return path
  }

  /// The element of a container that holds the target; the search begins at an element.
  private mutating func element(
    of container: ValueReader, _ index: Int, at offset: Int, _ target: Int, in bytes: Span<UInt8>
  ) -> Element? {
    guard container.header.isContainer, target < container.end else { return nil }
    var cursor = ByteCursor(bytes, from: offset, to: container.end)
    var index = index
    var rest = Self.longestScan
    while !cursor.isAtEnd {
      if rest == 0 {
        (index, cursor.offset) = offsets(of: container, bytes).last(upTo: target)
      }
      rest -= 1
      let start = cursor.offset
      // The record was checked, so the elements can be read.
      if container.header.kind == .map { _ = try? cursor.readKey(bytes) }
      let value = cursor.offset
      guard (try? cursor.readValueHeader(bytes)) != nil else { return nil }
      if target < cursor.offset {
        return Element(
          container: container, index: index, start: start, value: value..<cursor.offset)
      }
      index += 1
    }
    return nil
  }

  private mutating func offsets(of container: ValueReader, _ bytes: Span<UInt8>) -> ElementOffsets {
    if let known = known[container.offset] { return known }
    let new = ElementOffsets(of: container, in: bytes)
    known[container.offset] = new
    return new
  }

  @discardableResult
  private mutating func append(_ element: Element?, in bytes: Span<UInt8>) -> Bool {
    guard let element else { return false }
    trail.append(element)
    var cursor = ByteCursor(bytes, from: element.start, to: element.value.lowerBound)
    if element.container.header.kind == .map, let key = try? cursor.readKey(bytes) {
      path.append(PathKey.name(bytes.text(of: key, symbols.names)))
    } else {
      path.append(PathKey.index(element.index))
    }
    return true
  }
}
