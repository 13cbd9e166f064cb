import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Frames, indexes and footers of somebody who has the key: everything that is
/// checked before they are parsed fits.
final class HostileContentTests: XCTestCase {
  /// The content of a commit, whose every part can lie.
  private struct Content {
    var records: [(identifier: UInt64, map: [UInt8])] = [(1, [0x90, 1]), (2, [0x91, 5, 1, 42])]
    var removed: [UInt64] = []
    var symbols: [UInt8] = [3, 3, 0x61]
    var beforeSymbols: [UInt8] = []
    var afterIndex: [UInt8] = []
    var trailing: [UInt8] = []
    var changeIndex: (inout [Entry]) -> Void = { _ in }
    var changeFooter: (inout Footer) -> Void = { _ in }
    var footerByteCount: Int?
    /// Those of a snapshot.
    var flags: UInt32 = 1

    struct Entry {
      var record: UInt64
      var offset: Int
      var byteCount: Int
    }

    struct Footer {
      var schema: UInt64 = 0
      var recordCount: UInt64
      var recordByteCount: UInt64
      var symbols: (offset: UInt64, count: UInt64)
      var index: (offset: UInt64, count: UInt64)
      var fields: [UInt8] = []
    }

    var sealed: UncheckedArchive.Commit {
      var bytes: [UInt8] = []
      var entries = removed.map { Entry(record: $0, offset: 0, byteCount: 0) }
      for (identifier, map) in records {
        entries.append(
          Entry(record: identifier, offset: bytes.count, byteCount: map.count + 8))
        bytes += frame(1, little(identifier, 8) + map)
      }
      bytes += beforeSymbols
      bytes += frame(3, symbols)
      let symbolsStart = bytes.count - symbols.count
      entries.sort { $0.record < $1.record }
      let recordByteCount = entries.reduce(0) { $0 + $1.byteCount }
      changeIndex(&entries)
      let index = entries.flatMap {
        little($0.record, 8) + little(UInt64($0.offset), 5) + little(UInt64($0.byteCount), 3)
      }
      bytes += frame(5, index)
      var footer = Footer(
        recordCount: UInt64(entries.count), recordByteCount: UInt64(recordByteCount),
        symbols: (UInt64(symbolsStart), UInt64(symbols.count)),
        index: (UInt64(bytes.count - index.count), UInt64(index.count)))
      bytes += afterIndex
      changeFooter(&footer)
      let numbers = [
        footer.schema, footer.recordCount, footer.recordByteCount, footer.symbols.offset,
        footer.symbols.count, footer.index.offset, footer.index.count,
      ]
      let last = frame(7, numbers.flatMap(varint) + footer.fields) + trailing
      return UncheckedArchive.Commit(
        flags: flags, content: bytes + last,
        footerByteCount: footerByteCount ?? last.count)
    }
  }

  private static func varint(_ value: UInt64) -> [UInt8] {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    let count = max(1, (bits + 6) / 7)
    return count > 8
      ? [0] + little(value, 8) : little((value << 1 | 1) << UInt64(count - 1), count)
  }

  private static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  private static func frame(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [kind] + varint(UInt64(payload.count)) + payload
  }

  private func content(_ change: (inout Content) -> Void = { _ in }) -> UncheckedArchive.Commit {
    var content = Content()
    change(&content)
    return content.sealed
  }

  private func change(_ change: (inout Content) -> Void) -> UncheckedArchive.Commit {
    content { content in
      (content.flags, content.symbols) = (2, [1])
      change(&content)
    }
  }

  private func verified(
    _ snapshot: UncheckedArchive.Commit, _ journal: [UncheckedArchive.Commit] = [],
    recovery: ArchiveRecovery = .strict
  ) throws -> Archive? {
    let archives = try TestArchives()
    let bytes = archives.bytes(sealing: [snapshot] + journal)
    let archive = try Archive.open(
      MemoryStorage(bytes), key: archives.key, context: archives.context, recovery: recovery)
    try archive?.verifyAll()
    return archive
  }

  /// The same fault in a snapshot and in a change; a change with a fault that
  /// is authentic is an error also for who recovers.
  private func assertRefused(
    _ code: ArchiveError.Code, _ what: String, line: UInt = #line,
    _ change: (inout Content) -> Void
  ) {
    XCTAssertEqual(
      archiveError(what, line: line) { _ = try verified(content(change)) }?.code, code, what,
      line: line)
    let journal = self.change(change)
    for recovery in [ArchiveRecovery.strict, .recover] {
      let error = archiveError(what, line: line) {
        _ = try verified(content { $0.symbols = [1] }, [journal], recovery: recovery)
      }
      XCTAssertEqual(error?.code, code, "\(what), in the journal", line: line)
    }
  }

  func testContentThatKeepsTheRulesIsRead() throws {
    let archive = try XCTUnwrap(try verified(content()))
    XCTAssertEqual(try archive.recordIdentifiers(), [1, 2])
    XCTAssertEqual(try archive.record(2)?.decode(Int.self, forKey: "a"), 42)
  }

  func testEveryUnknownOddFrameIsRefusedAndEveryEvenOneSkipped() throws {
    for kind in 0...255 as ClosedRange<UInt8> where ![1, 3, 5, 7].contains(kind) {
      let extra = Self.frame(kind, [1, 2, 3])
      if kind.isMultiple(of: 2) {
        let archive = try verified(content { $0.beforeSymbols = extra })
        XCTAssertEqual(try archive?.recordIdentifiers(), [1, 2])
      } else {
        assertRefused(.unsupportedFeature, "kind \(kind)") { $0.beforeSymbols = extra }
      }
    }
  }

  func testFramesOutOfPlaceAreRefused() {
    for length in [100, 1 << 20, 1 << 31, 1 << 32, 1 << 63, .max] as [UInt64] {
      assertRefused(.malformed, "length \(length)") {
        $0.beforeSymbols = [2] + Self.varint(length)
      }
    }
    assertRefused(.malformed, "half a length") { $0.afterIndex = [2, 0, 0] }
    assertRefused(.malformed, "a longer length") { $0.beforeSymbols = [2, 0x02, 0x00] }
    assertRefused(.malformed, "two footers") { $0.afterIndex = Self.frame(7, [1]) }
    assertRefused(.malformed, "two symbol tables") { $0.afterIndex = Self.frame(3, [1]) }
    assertRefused(.malformed, "two indexes") { $0.afterIndex = Self.frame(5, []) }
    assertRefused(.malformed, "a record nobody knows") {
      $0.beforeSymbols = Self.frame(1, Self.little(9, 8) + [0x90, 1])
    }
    assertRefused(.malformed, "a record after the index") {
      $0.afterIndex = Self.frame(1, Self.little(9, 8) + [0x90, 1])
    }
    assertRefused(.malformed, "a byte after the footer") { $0.trailing = [0] }
  }

  func testEveryWrongLengthOfTheFooterIsRefused() {
    let right = Int(content().footerByteCount)
    for length in 0...content().content.count + 2 where length != right {
      assertRefused(.malformed, "footer of \(length) bytes") { $0.footerByteCount = length }
    }
    for length in [1 << 20 + 1, 1 << 31, 1 << 32 - 1] {
      assertRefused(.limitExceeded, "footer of \(length) bytes") { $0.footerByteCount = length }
    }
  }

  func testAnIndexOutOfOrderIsRefused() {
    assertRefused(.malformed, "not sorted") { $0.changeIndex = { $0.reverse() } }
    assertRefused(.malformed, "twice") { $0.changeIndex = { $0[1] = $0[0] } }
    assertRefused(.malformed, "identifier 0") { $0.changeIndex = { $0[0].record = 0 } }
    assertRefused(.malformed, "one missing") { $0.changeIndex = { $0.removeLast() } }
    assertRefused(.malformed, "the same identifier twice") {
      $0.changeIndex = { $0[1].record = 1 }
    }
  }

  func testEveryWrongPlaceOfARecordIsRefused() {
    let largest = (offset: 1 << 40 - 1, byteCount: 1 << 24 - 1)
    for delta in Array(-20...60) + [largest.offset - 20] where delta != 0 {
      assertRefused(.malformed, "offset \(delta)") {
        $0.changeIndex = { $0[1].offset = max(0, $0[1].offset + delta) }
      }
    }
    for byteCount in Array(0...60) + [largest.byteCount] where byteCount != 12 {
      assertRefused(.malformed, "\(byteCount) bytes") {
        $0.changeIndex = { $0[1].byteCount = byteCount }
      }
    }
    assertRefused(.malformed, "another identifier") { $0.changeIndex = { $0[1].record = 3 } }
    assertRefused(.malformed, "a removal with a place") {
      $0.removed = [9]
      $0.changeIndex = { $0[2].offset = 1 }
    }
  }

  /// Counts are compared, and nothing is allocated for them.
  func testEveryNumberInTheFooterIsChecked() {
    let large: [UInt64] = [1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 60, 1 << 63, .max]
    // 6 bytes of records would be those without their identifiers.
    for number in [0, 1, 3, 6] + large {
      assertRefused(.malformed, "\(number) records") {
        $0.changeFooter = { $0.recordCount = number }
      }
      assertRefused(.malformed, "\(number) bytes of records") {
        $0.changeFooter = { $0.recordByteCount = number }
      }
    }
    for number in [0, 1, 2] + large {
      assertRefused(.malformed, "symbols at \(number)") {
        $0.changeFooter = { $0.symbols.offset = number }
      }
      assertRefused(.malformed, "index at \(number)") {
        $0.changeFooter = { $0.index.offset = number }
      }
      assertRefused(.malformed, "\(number) bytes of index") {
        $0.changeFooter = { $0.index.count = number }
      }
    }
    for number in [0, 4] + large {
      assertRefused(.malformed, "\(number) bytes of symbols") {
        $0.changeFooter = { $0.symbols.count = number }
      }
    }
    assertRefused(.malformed, "schema") { $0.changeFooter = { $0.schema = 1 << 32 } }
  }

  func testACriticalFooterFieldIsRefusedAndAnotherKept() throws {
    for type in [0, 1, 0x7FFF] as [UInt64] {
      let field = Self.little(type, 2) + Self.little(3, 4) + [1, 2, 3]
      let archive = try verified(content { $0.changeFooter = { $0.fields = field } })
      XCTAssertEqual(try archive?.recordIdentifiers(), [1, 2])
      assertRefused(.malformed, "twice") { $0.changeFooter = { $0.fields = field + field } }
      for count in 1..<field.count {
        assertRefused(.malformed, "\(count) bytes of a field") {
          $0.changeFooter = { $0.fields = Array(field[..<count]) }
        }
      }
    }
    for type in [0x8000, 0x8001, 0xFFFF] as [UInt64] {
      assertRefused(.unsupportedFeature, "critical \(type)") {
        $0.changeFooter = { $0.fields = Self.little(type, 2) + Self.little(0, 4) }
      }
    }
    assertRefused(.malformed, "longer than all") {
      $0.changeFooter = { $0.fields = Self.little(1, 2) + Self.little(0xFFFF_FFFF, 4) }
    }
    assertRefused(.malformed, "out of order") {
      $0.changeFooter = { footer in
        footer.fields = [2, 1].flatMap { Self.little($0, 2) + Self.little(0, 4) }
      }
    }
  }

  func testSymbolsOfAChangeContinueThoseBefore() throws {
    func change(_ symbols: [UInt8]) -> UncheckedArchive.Commit {
      self.change { content in
        content.records = [(3, [0x91, 5, 9, 42])]
        content.symbols = symbols
      }
    }
    let archive = try verified(content(), [change([5, 3, 0x62, 3, 0x63])])
    XCTAssertEqual(try archive?.record(3)?.decode(Int.self, forKey: "c"), 42)
    for (what, symbols) in [
      ("a name of the snapshot", [3, 3, 0x61]), ("a number too few", [3, 3, 0x62]),
      ("no name", [1]),
    ] as [(String, [UInt8])] {
      XCTAssertEqual(
        archiveError(what) { _ = try verified(content(), [change(symbols)]) }?.code,
        .malformed,
        what)
    }
  }

  /// One more than there may be, in one commit and in two.
  func testMoreSymbolsThanThereMayBeAreRefused() throws {
    func names(_ range: Range<Int>) -> [UInt8] {
      Self.varint(UInt64(range.count))
        + range.flatMap { Self.varint(4) + Array(String($0 + 1000, radix: 36).leftPadded.utf8) }
    }
    func snapshot(_ count: Int) -> UncheckedArchive.Commit {
      content { content in
        content.records = []
        content.symbols = names(0..<count)
      }
    }
    XCTAssertNotNil(try verified(snapshot(1 << 16)))
    XCTAssertEqual(
      archiveError { _ = try verified(snapshot(1 << 16 + 1)) },
      ArchiveError(.limitExceeded, subject: "symbols", location: "memory"))
    let change = change { content in
      content.records = []
      content.symbols = names(1 << 16..<1 << 16 + 1)
    }
    XCTAssertEqual(
      archiveError { _ = try verified(snapshot(1 << 16), [change]) },
      ArchiveError(.malformed, offset: 1, location: "memory"))
  }

  func testARemovedRecordIsAbsentAndMayComeBack() throws {
    let removal = change { ($0.records, $0.removed) = ([], [1, 9]) }
    let again = change { $0.records = [(1, [0x91, 5, 1, 7])] }
    let removed = try XCTUnwrap(try verified(content(), [removal]))
    XCTAssertNil(try removed.record(1))
    XCTAssertEqual(try removed.recordIdentifiers(), [2])
    let back = try XCTUnwrap(try verified(content(), [removal, again]))
    XCTAssertEqual(try back.record(1)?.decode(Int.self, forKey: "a"), 7)
    XCTAssertEqual(try back.recordIdentifiers(), [1, 2])
  }

  func testAuthenticFlagsAndGenerationsThatAreWrongAreRefused() {
    func code(_ edit: (inout UncheckedArchive.Commit) -> Void) -> ArchiveError.Code? {
      var commit = change { _ in }
      edit(&commit)
      return archiveError { _ = try verified(content(), [commit]) }?.code
    }
    for flags in [0, 1, 3, 4, 0x8000_0002, .max] as [UInt32] {
      XCTAssertEqual(code { $0.flags = flags }, .unsupportedFeature, "flags \(flags)")
    }
    for offset in [1, 2, 1 << 32, .max] as [UInt64] {
      XCTAssertEqual(code { $0.generation = 2 &+ offset }, .malformed, "generation \(offset)")
    }
  }
}

extension String {
  /// Four characters.
  fileprivate var leftPadded: String { String(repeating: "0", count: 4 - count) + self }
}
