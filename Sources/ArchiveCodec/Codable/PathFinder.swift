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
  /// The landmarks of containers that were searched for an element far from the last one.
  private var landmarks: [Int: Landmarks] = [:]

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
        return path + [IndexKey((target - container.header.payload.lowerBound) / size)]
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
    var rest = Landmarks.spacing
    while !cursor.isAtEnd {
      if rest == 0 { (index, cursor.offset) = landmark(in: container, upTo: target, bytes) }
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

  private mutating func landmark(
    in container: ValueReader, upTo target: Int, _ bytes: Span<UInt8>
  ) -> (index: Int, offset: Int) {
    if let known = landmarks[container.offset] { return known.last(upTo: target) }
    let new = Landmarks(of: container, in: bytes)
    landmarks[container.offset] = new
    return new.last(upTo: target)
  }

  @discardableResult
  private mutating func append(_ element: Element?, in bytes: Span<UInt8>) -> Bool {
    guard let element else { return false }
    trail.append(element)
    var cursor = ByteCursor(bytes, from: element.start, to: element.value.lowerBound)
    if element.container.header.kind == .map, let key = try? cursor.readKey(bytes) {
      path.append(NameKey(bytes.text(of: key, symbols.names)))
    } else {
      path.append(IndexKey(element.index))
    }
    return true
  }
}

/// The offsets of some elements of a container, evenly spaced, so that the others are
/// found without reading all before them.
private struct Landmarks {
  /// A few headers are read as fast as one more offset is found.
  static let spacing = 16

  /// Less than 2^24 each, as the record is no longer.
  private var offsets: [UInt32] = []

  init(of container: ValueReader, in bytes: Span<UInt8>) {
    offsets.reserveCapacity(container.header.count / Self.spacing + 1)
    let payload = container.header.payload
    var cursor = ByteCursor(bytes, from: payload.lowerBound, to: payload.upperBound)
    var index = 0
    while !cursor.isAtEnd {
      if index.isMultiple(of: Self.spacing) {
        offsets.append(UInt32(truncatingIfNeeded: cursor.offset))
      }
      if container.header.kind == .map { _ = try? cursor.readKey(bytes) }
      guard (try? cursor.readValueHeader(bytes)) != nil else { return }
      index += 1
    }
  }

  /// The last landmark at the target or before it.
  func last(upTo target: Int) -> (index: Int, offset: Int) {
    let place = max(offsets.countOfLeading { $0 <= target } - 1, 0)
    return (place * Self.spacing, Int(offsets[place]))
  }
}
