import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// Stored states as a tool sees them that are damaged, or that no save would write.
@MainActor
final class HostileOutlineTests: XCTestCase {
  private let launch = Launch()
  private static let (forms, kept) = (UInt64.max - 2, UInt64.max - 1)

  /// Seals records in place of the saved state.
  private func store(
    idLimit: UInt64 = 1 << 40, classes: [String] = ["TestNode"],
    _ build: (RecordBuilder) throws -> Void
  ) throws {
    let builder = RecordBuilder()
    try builder.append(record: Self.forms) { coder in
      coder.encode(idLimit, forKey: "idLimit")
      coder.encode(classes, forKey: "classes")
      coder.encode(classes.map { _ in "" }, forKey: "makers")
      coder.encode(classes.map { _ in 1 }, forKey: "versions")
    }
    try build(builder)
    try seal(builder)
  }

  private func seal(_ builder: RecordBuilder) throws {
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: StoredState.context(of: "main", in: Launch.application))
  }

  private func open() throws -> StoredState {
    guard let key = try launch.keys.key(creating: false),
      let state = try StoredState.open(
        launch.store.memory(named: "main"), named: "main", of: Launch.application, with: .key(key))
    else { throw CocoaError(.fileNoSuchFile) }
    return state
  }

  private func lines(_ outline: StoredState.Outline) -> [String] {
    var lines: [String] = []
    outline.forEach {
      lines.append("\($0.role) \($0.path) \($0.byteCount > 0)")
      XCTAssertEqual(outline.element(ofRecord: $0.record), $0)
      XCTAssertEqual(outline.element(withIdentifier: $0.identifier), $0)
    }
    XCTAssertEqual(lines.count, outline.count)
    return lines
  }

  private func problems(_ outline: StoredState.Outline) -> [String] {
    outline.problems.map { "\($0.record) \($0.error.code)" }
  }

  // MARK: Trees

  func testRecordsOfNoElementAreProblems() async throws {
    try store { builder in
      try builder.appendContents(of: 0, [1, 2])
      try builder.append(record: 2) { $0.encode("own", forKey: "value") }
      for stray: UInt64 in [20, 21, 22] { try builder.append(record: stray) { _ in } }
    }
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["root 1 true", "root 2 false"])
    XCTAssertEqual(problems(outline), ["20 malformed", "21 malformed", "22 malformed"])
    XCTAssertNil(outline.failure)
    XCTAssertNil(outline.element(ofRecord: 20))
    XCTAssertNil(outline.element(ofRecord: 3))
  }

  func testContentsThatAreNoListLeaveOutWhatIsBelowThemAndNothingElse() async throws {
    let bad: [(KeyedEncoder) -> Void] = [
      { $0.encode("text", forKey: "ids") },
      { $0.encode([Int64(2), 0], forKey: "ids") },
      { coder in
        coder.encode([Int64(1 << 41)], forKey: "ids")
        coder.encode(["x"], forKey: "names")
        coder.encode([0], forKey: "forms")
      },
      { coder in
        coder.encode([Int64(5)], forKey: "ids")
        coder.encode(["x"], forKey: "names")
        coder.encode([7], forKey: "forms")
      },
    ]
    for contents in bad {
      try store { builder in
        try builder.appendContents(of: 0, [1, 2])
        try builder.append(record: 3, contents)
        try builder.appendContents(of: 2, [4])
        try builder.append(record: 10) { _ in }
      }
      let outline = try open().outline()
      XCTAssertEqual(lines(outline), ["root 1 false", "root 2 false", "child 2/4 false"])
      XCTAssertEqual(problems(outline), ["3 malformed", "10 malformed"])
      XCTAssertNil(outline.failure, "A restore takes the rest.")
    }
  }

  func testCirclesAndElementsOfTwoParentsAreLeftOut() async throws {
    try store { builder in
      try builder.appendContents(of: 0, [1, 2])
      try builder.appendContents(of: 1, [3])
      try builder.appendContents(of: 2, [3])
      try builder.appendContents(of: 3, [1])
    }
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["root 1 false", "child 1/3 false", "root 2 false"])
    XCTAssertEqual(problems(outline), ["5 malformed", "7 malformed"])
  }

  func testAStateWithoutFormsIsTakenByNoRestore() async throws {
    for isThere in [false, true] {
      let builder = RecordBuilder()
      if isThere {
        try builder.append(record: Self.forms) { $0.encode("text", forKey: "idLimit") }
      }
      try builder.appendContents(of: 0, [1])
      try seal(builder)
      let state = try open()
      XCTAssertNil(state.facts?.applicationVersion)
      let outline = try state.outline()
      XCTAssertEqual(lines(outline), [])
      XCTAssertEqual(outline.problems.map(\.record), [Self.forms])
      let failure = try XCTUnwrap(outline.failure)
      XCTAssertEqual(failure.code, isThere ? .typeMismatch : .malformed)
      do {
        _ = try await launch.keeper().restore()
        XCTFail("It did not throw.")
      } catch let error as RestorationError {
        XCTAssertEqual(error.archive?.code, failure.code)
      }
    }
  }

  func testWhatIsKeptIsAProblemIfItCannotBeRead() async throws {
    try store { builder in
      try builder.appendContents(of: 0, [1])
      try builder.append(record: Self.kept) { $0.encode("text", forKey: "owners") }
    }
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["root 1 false"])
    XCTAssertEqual(problems(outline), ["\(Self.kept) malformed"])
  }

  func testValuesAreByTheirWindowsAndKeysAndOnesWithoutANameAreProblems() async throws {
    let first = UInt64(6) << 61
    try store { builder in
      try builder.appendContents(of: 0, [1])
      let names: [(window: String?, key: String)] = [
        (nil, "b"), ("w", "a"), (nil, "b"), (nil, "a"), (nil, ""),
      ]
      for (place, name) in names.enumerated() {
        try builder.append(record: first + UInt64(place) * 3) { coder in
          coder.encode(name.window, forKey: "window")
          coder.encode(name.key, forKey: "key")
          coder.encode(place, forKey: "value")
        }
      }
      try builder.append(record: first + 1) { $0.encode(7, forKey: "key") }
      try builder.append(record: first + 2) { $0.encode("window", forKey: "window") }
    }
    let state = try open()
    let outline = try state.outline()
    XCTAssertEqual(
      outline.values.map { "\($0.window ?? "-") \($0.key) \($0.isUnread)" },
      ["-  false", "- a false", "- b true", "- b false", "w a false"])
    XCTAssertEqual(outline.values.map { $0.record - first }, [12, 9, 0, 6, 3])
    XCTAssertEqual(problems(outline), ["\(first + 1) typeMismatch", "\(first + 2) keyNotFound"])
    XCTAssertEqual(
      try outline.values.map { try state.values(ofRecord: $0.record)?.decode(forKey: "value") },
      [4, 3, 0, 2, 1])
    XCTAssertNil(outline.element(ofRecord: first))
    XCTAssertEqual(lines(outline), ["root 1 false"])
    var records: Set<UInt64> = []
    try state.forEachValues { record, _ in records.insert(record) }
    XCTAssertEqual(records.count, 7)
  }

  func testADateThatIsNoNumberCountsAsMissing() async throws {
    try store { builder in
      try builder.appendContents(of: 0, [1])
      try builder.append(record: 4) { _ in }
      try builder.append(record: Self.kept) { coder in
        coder.encode([UInt64(1), 1], forKey: "owners")
        coder.encode([UInt64(0), 2], forKey: "ids")
        coder.encode([0, 0], forKey: "forms")
        coder.encode([0, 250], forKey: "reasons")
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        coder.encode([never, never], forKey: "since")
      }
    }
    let element = try XCTUnwrap(try open().outline().element(withIdentifier: 1))
    XCTAssertEqual([element.kept?.reason, element.unread.first?.reason], ["notFound", "notFound"])
    XCTAssertEqual([element.kept?.since, element.unread.first?.since], [nil, nil])
  }

  func testOfManyProblemsAHundredAreKeptAndAllAreCounted() async throws {
    try store { builder in
      for number: UInt64 in 1...500 { try builder.append(record: number * 2) { _ in } }
    }
    let outline = try open().outline()
    XCTAssertEqual([outline.problems.count, outline.problemCount, outline.count], [100, 500, 0])
    XCTAssertEqual(outline.problems.map(\.record), (1...100).map { UInt64($0 * 2) })
  }

  func testALongChainAndAWideTreeNeedNoStackAndNoSquareOfTime() async throws {
    let count: UInt64 = 30_000
    try store { builder in
      for number in 0..<count { try builder.appendContents(of: number, [number + 1]) }
    }
    var depths = 0
    var outline = try open().outline()
    outline.forEach { depths += $0.path.count }
    XCTAssertEqual(depths, Int(count * (count + 1) / 2))
    XCTAssertEqual(outline.element(withIdentifier: count)?.path.count, Int(count))
    try store { try $0.appendContents(of: 0, Array(1...count)) }
    outline = try open().outline()
    XCTAssertEqual([outline.count, outline.problemCount], [Int(count), 0])
  }

  func testNumbersOfAnySizeAreFound() async throws {
    let numbers: [UInt64] = [9, 1 << 61, 3, UInt64(UInt32.max) + 7]
    try store(idLimit: 1 << 62) { builder in
      try builder.appendContents(of: 0, numbers)
      for number in numbers { try builder.append(record: number * 2) { $0.encode(1, forKey: "x") } }
    }
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), numbers.map { "root \($0) true" })
    for number in [0, 1, 1 << 63, .max] as [UInt64] {
      XCTAssertNil(outline.element(withIdentifier: number))
      XCTAssertNil(outline.element(ofRecord: number))
    }
  }

  func testReferredElementsThatHaveChangedAreInTheOrderOfARestore() async throws {
    let referred = ["a", "b", "c"].map { TestNode($0, value: "value") }
    let root = TestNode("root")
    root.onEncode = { $0.encode(referred, forKey: "references") }
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    referred[0].value = "changed"
    _ = try await keeper.save([root])
    let state = try open()
    XCTAssertEqual(state.archive.extent.changeCount, 1)
    var paths: [String] = []
    try state.outline().forEach { paths.append($0.path.description) }
    let report = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(paths.count, 4)
    XCTAssertEqual(paths, report.entries.map(\.path.description))
  }

  // MARK: Reading

  func testDamageEndsNothing() async throws {
    try store { builder in
      try builder.appendContents(of: 0, Array(1...80))
      for number: UInt64 in 1...80 {
        try builder.append(record: number * 2) {
          $0.encode(String(repeating: "p", count: 9000), forKey: "text")
        }
      }
    }
    let whole = try open().outline()
    XCTAssertEqual([whole.count, whole.problemCount], [80, 0])
    let bytes = try XCTUnwrap(launch.storedBytes)
    var damagedBodies = 0
    for part in [0.2, 0.4, 0.6, 0.8] {
      var damaged = bytes
      damaged[Int(Double(bytes.count) * part)] ^= 1
      launch.storedBytes = damaged
      let state = try open()
      let outline = try state.outline()
      XCTAssertEqual(outline.damage?.code, .damaged)
      XCTAssertEqual(outline.failure, outline.damage)
      XCTAssertGreaterThan(outline.problemCount, 0)
      XCTAssertEqual(Set(outline.problems.map(\.error.code)), [.damaged])
      // What says who is above an element is whole, so all of them are there.
      XCTAssertEqual(outline.count, 80)
      for problem in outline.problems {
        XCTAssertNotNil(outline.element(ofRecord: problem.record))
        XCTAssertThrowsError(try state.values(ofRecord: problem.record))
        damagedBodies += 1
      }
      var (readable, unreadable) = (0, 0)
      try state.forEachValues { _, values in
        if case .success = values { readable += 1 } else { unreadable += 1 }
      }
      XCTAssertEqual([readable, unreadable], [80 - outline.problemCount, outline.problemCount])
    }
    XCTAssertGreaterThan(damagedBodies, 3)
  }

  func testEveryByteOfASmallStateMayBeAnother() async throws {
    let root = TestNode("root", children: [TestNode("child", value: "value")])
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    root.value = "changed"
    _ = try await keeper.save([root])
    let bytes = try XCTUnwrap(launch.storedBytes)
    var openedCount = 0
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0x40
      launch.storedBytes = damaged
      guard let state = try? open() else { continue }
      openedCount += 1
      let outline = try state.outline()
      XCTAssert(
        outline.damage != nil || state.archive.dropped != nil, "byte \(place) of \(bytes.count)")
    }
    XCTAssertGreaterThan(openedCount, 0)
  }

  func testAnErrorOfTheProgressEndsTheReading() async throws {
    struct Stop: Error {}
    try store { builder in
      for number: UInt64 in 1...9000 { try builder.append(record: number * 2) { _ in } }
    }
    var counts: [Int] = []
    XCTAssertThrowsError(
      try open().outline { count in
        counts.append(count)
        if counts.count == 2 { throw Stop() }
      }
    ) { XCTAssertTrue($0 is Stop) }
    XCTAssertEqual(counts, [4096, 8192])
  }
}

extension RecordBuilder {
  /// Writes which elements are below another one, each with its number as its name.
  fileprivate func appendContents(of parent: UInt64, _ numbers: [UInt64]) throws {
    try append(record: parent * 2 + 1) { coder in
      let steps = zip(numbers, [0] + numbers).map { Int64(bitPattern: $0 &- $1) }
      coder.encode(steps, forKey: "ids")
      coder.encode(numbers.map { "\($0)" }, forKey: "names")
      coder.encode(numbers.map { _ in 0 }, forKey: "forms")
    }
  }
}
