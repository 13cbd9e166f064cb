extension ByteReader {
  /// Checks that the rest of the bytes is exactly one well-formed map.
  ///
  /// What passes has one encoding only: keys in order and no key twice, the
  /// shortest forms, valid UTF-8, no byte left over. Decoding can then rely on
  /// the structure. It keeps a stack of its own, so depth costs no call stack.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  mutating func validateRecord(
    symbols: SymbolTable, limits: ArchiveLimits
  ) throws(ArchiveError) {
    guard try peekValueHeader().kind == .map else { throw malformed(at: offset) }
    var open = [OpenContainer(end: end, remaining: 1, isMap: false)]
    while let last = open.indices.last {
      guard open[last].remaining > 0 else {
        guard offset == open[last].end else { throw malformed(at: offset) }
        open.removeLast()
        continue
      }
      open[last].remaining -= 1
      if open[last].isMap {
        try checkKey(in: &open[last], symbols: symbols, limits: limits)
      }
      let header = try checkedValueHeader(limits: limits)
      guard header.payload.upperBound <= open[last].end else { throw malformed(at: offset) }
      if header.kind == .array || header.kind == .map {
        guard open.count <= limits.depth else {
          throw ArchiveError(.limitExceeded, offset: offset, subject: "depth")
        }
        offset = header.payload.lowerBound
        open.append(
          OpenContainer(
            end: header.payload.upperBound, remaining: header.count, isMap: header.kind == .map,
            start: offset))
      }
    }
  }

  private struct OpenContainer {
    let end: Int
    var remaining: Int
    let isMap: Bool
    var start = 0
    var previousKey: ValueKey?
    /// Filled when the first inline key follows symbols.
    var symbolsUsed: Set<UInt32>?
    /// Filled when the first inline key comes that is not ASCII.
    var inlineNames: Set<String>?
  }

  private func peekValueHeader() throws(ArchiveError) -> ValueHeader {
    var copy = self
    return try copy.readValueHeader()
  }

  private mutating func checkKey(
    in map: inout OpenContainer, symbols: SymbolTable, limits: ArchiveLimits
  ) throws(ArchiveError) {
    let start = offset
    let key = try readKey(limits: limits, symbolCount: symbols.names.count)
    if let previous = map.previousKey, !isOrdered(previous, before: key) {
      throw malformed(at: start)
    }
    if case .inline(let range) = key {
      guard let name = String(validating: bytes[range], as: UTF8.self) else {
        throw malformed(at: start)
      }
      if let number = symbols.number(of: name) {
        let used: Set<UInt32>
        if let known = map.symbolsUsed {
          used = known
        } else {
          used = try keys(from: map.start, to: start, limits: limits).symbols
        }
        guard !used.contains(number) else { throw malformed(at: start) }
        map.symbolsUsed = used
      }
      // The order of bytes tells ASCII names apart, but one name may have two
      // spellings, one of which may be ASCII.
      if map.inlineNames == nil, !name.utf8.allSatisfy({ $0 < 0x80 }) {
        map.inlineNames = try keys(from: map.start, to: start, limits: limits).names
      }
      guard map.inlineNames?.insert(name).inserted ?? true else {
        throw ArchiveError(.malformed, offset: start, subject: "equal keys")
      }
    }
    map.previousKey = key
  }

  /// The keys of a map, whose entries were already checked.
  private func keys(
    from start: Int, to end: Int, limits: ArchiveLimits
  ) throws(ArchiveError) -> (symbols: Set<UInt32>, names: Set<String>) {
    var reader = ByteReader(bytes, from: start, to: end)
    var symbols: Set<UInt32> = []
    var names: Set<String> = []
    while !reader.isAtEnd {
      switch try reader.readKey(limits: limits, symbolCount: .max) {
      case .symbol(let number): symbols.insert(number)
      case .inline(let range): names.insert(String(decoding: bytes[range], as: UTF8.self))
      }
      _ = try reader.readValueHeader()
    }
    return (symbols, names)
  }

  private mutating func checkedValueHeader(
    limits: ArchiveLimits
  ) throws(ArchiveError) -> ValueHeader {
    let start = offset
    let header = try readValueHeader()
    switch header.kind {
    case .string, .url:
      guard header.payload.count <= limits.stringByteCount else {
        throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a string")
      }
      guard String(validating: bytes[header.payload], as: UTF8.self) != nil else {
        throw malformed(at: start)
      }
    case .bytes where header.payload.count > limits.stringByteCount:
      throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a byte sequence")
    case .packedArray(let element):
      guard hasNarrowestElement(header, element) else { throw malformed(at: start) }
    default: break
    }
    return header
  }

  private func hasNarrowestElement(_ header: ValueHeader, _ element: PackedElement) -> Bool {
    switch element {
    case .float, .double: true
    default: packedIntegers(header, element).narrowest == element
    }
  }
}
