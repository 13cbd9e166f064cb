// Elements of a set and keys of a dictionary may be of any type: the texts in their
// values, at any depth, are hashed.

extension DecodingSession {
  /// Refuses elements, or keys that are stored in turns with values, with a text that takes too
  /// long to hash.
  func checkTexts(of array: ValueReader, everyOther: Bool = false, for type: Any.Type) throws {
    guard array.header.kind == .array else { return }
    let block = bytes
    do throws(ArchiveError) {
      try CombiningMarks.check(
        array.header.payload, of: block.span.extracting(record), everyOther: everyOther)
    } catch {
      throw decodingError(error, type, array)
    }
  }

  /// Refuses a map with a key that takes too long to hash.
  func checkKeys(of map: ValueReader, for type: Any.Type) throws {
    guard map.header.kind == .map else { return }
    let block = bytes
    let bytes = block.span.extracting(record)
    var cursor = ByteCursor(bytes, over: map.header.payload)
    while !cursor.isAtEnd {
      let key = name(of: try cursor.readKey(bytes))
      guard !CombiningMarks.areTooMany(in: key) else {
        throw decodingError(CombiningMarks.error(at: cursor.offset), type, map)
      }
      cursor.offset = try reader(at: cursor.offset, in: bytes).end
    }
  }
}

extension ValueEncoder {
  /// Refuses elements that were written from a place on, if reading would refuse them.
  func checkTexts(from start: Int, everyOther: Bool = false) throws(ArchiveError) {
    let bytes = writer.output.bytes(from: start)
    do throws(ArchiveError) {
      try CombiningMarks.check(0..<bytes.count, of: bytes.span, everyOther: everyOther)
    } catch {
      // The offset counts from the value and not from the record, so it is left out.
      throw ArchiveError(error.code, subject: error.subject)
    }
  }
}

extension CombiningMarks {
  /// Refuses values in a row, or every second of them, if they have a text that takes
  /// too long to hash.
  ///
  /// - Complexity: O(*n*) in the bytes; no recursion.
  fileprivate static func check(
    _ values: Range<Int>, of bytes: Span<UInt8>, everyOther: Bool
  ) throws(ArchiveError) {
    var offset = values.lowerBound
    var isChecked = true
    while offset < values.upperBound {
      let value = try ValueReader(bytes, at: offset)
      if isChecked { try check(offset..<value.end, of: bytes) }
      if everyOther { isChecked.toggle() }
      offset = value.end
    }
  }

  /// Searches the values in containers as well.
  private static func check(_ values: Range<Int>, of bytes: Span<UInt8>) throws(ArchiveError) {
    var walk = ValueWalk(values)
    while let step = try walk.next(in: bytes) {
      guard case .value(let value, _) = step, value.header.kind == .string,
        areTooMany(in: value.header.payload, of: bytes)
      else { continue }
      throw error(at: value.offset)
    }
  }
}
