import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Documents that no save writes, sealed with the right key.
@MainActor
final class HostileDocumentTests: BodyTestCase {
  /// What is below an element, as a contents record has it.
  private struct Contents {
    var steps: [Int64]
    var names: [String]
    var forms: [Int]
    var roles: [UInt8]?
    var siblings: [Int]?

    init(_ steps: [Int64], _ names: [String], forms: [Int]? = nil) {
      (self.steps, self.names) = (steps, names)
      self.forms = forms ?? names.map { _ in 0 }
    }

    func encode(with encoder: KeyedEncoder) {
      encoder.encode(steps, forKey: "ids")
      encoder.encode(names, forKey: "names")
      encoder.encode(forms, forKey: "forms")
      encoder.encode(roles, forKey: "roles")
      encoder.encode(siblings, forKey: "siblings")
    }
  }

  /// Stores a document by the contents and the texts of its elements.
  private func store(
    _ contents: [UInt64: Contents], texts: [UInt64: String], idLimit: UInt64 = 1000,
    others: [UInt64: (KeyedEncoder) -> Void] = [:]
  ) throws {
    var records = others
    for (id, below) in contents { records[id * 2 + 1] = records[id * 2 + 1] ?? below.encode }
    for (id, text) in texts { records[id * 2] = { $0.encode(text, forKey: "value") } }
    records[.max - 2] = { encoder in
      encoder.encode(idLimit, forKey: "idLimit")
      encoder.encode(["Page"], forKey: "classes")
      encoder.encode([""], forKey: "makers")
      encoder.encode([1], forKey: "versions")
    }
    let builder = RecordBuilder()
    for (number, body) in records.sorted(by: { $0.key < $1.key }) {
      try builder.append(record: number) { body($0) }
    }
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: ArchiveContext([Launch.application, "main"]))
  }

  /// The texts in the file and in its history.
  private func allTextsAndHistory() throws -> Set<String> {
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let names = try launch.store.names().filter { $0 == "main" || $0.contains(".history-") }
    return try names.reduce(into: []) { texts, name in
      let archive = try Archive.open(
        launch.store.memory(named: name), key: key,
        context: ArchiveContext([Launch.application, "main"]))
      for record in try archive?.readAll() ?? [] {
        let text: String? = try record.content.get().decodeIfPresent(forKey: "value")
        if let text { texts.insert(text) }
      }
    }
  }

  /// Contents of the first of two roots that nobody can read.
  private var malformed: [(name: String, contents: Contents)] {
    var all: [(String, Contents)] = [
      ("itself", Contents([1], ["x"])), ("a root", Contents([2], ["x"])),
      ("twice the same", Contents([3, 0], ["x", "y"])),
      ("twice the same, not beside each other", Contents([3, 1, -1], ["x", "y", "z"])),
      ("the tree", Contents([0], ["x"])), ("below zero", Contents([-1], ["x"])),
      ("over the limit", Contents([1000], ["x"])), ("far over the limit", Contents([.max], ["x"])),
      ("a name too few", Contents([3, 1], ["x"], forms: [0, 0])),
      ("a form too few", Contents([3, 1], ["x", "y"], forms: [0])),
      ("no such form", Contents([3], ["x"], forms: [1])),
      ("a form below zero", Contents([3], ["x"], forms: [-1])),
      ("the last form", Contents([3], ["x"], forms: [.max])),
      ("a million of them", Contents(Array(repeating: 1, count: 1_000_000), ["x"])),
    ]
    func add(_ name: String, _ change: (inout Contents) -> Void) {
      var contents = Contents([3, 1], ["x", "y"])
      change(&contents)
      all.append((name, contents))
    }
    add("a role too few") { $0.roles = [0] }
    add("a window below an element") { $0.roles = [0, Role.scene.rawValue] }
    add("no such role") { $0.roles = [0, 6] }
    add("a number too few") { $0.siblings = [0] }
    add("a number below zero") { $0.siblings = [0, -1] }
    add("a large number") { $0.siblings = [0, 1 << 31] }
    return all
  }

  func testWhatIsBelowMalformedContentsIsLeftOutAndStaysStored() async throws {
    for (name, contents) in malformed {
      launch = Launch()
      let texts: [UInt64: String] = [1: "bad", 2: "good", 3: "below", 4: "deep"]
      try store(
        [0: Contents([1, 1], ["bad", "good"]), 1: contents, 3: Contents([4], ["deep"])],
        texts: texts)
      let (bad, good) = (Page("bad"), Page("good"))
      let keeper = try keeper()
      let report = try await keeper.restore(into: [bad, good])
      XCTAssertEqual(report.outcome, .restored, name)
      XCTAssertEqual([bad.text, good.text], ["bad", "good"], name)
      XCTAssertEqual(report.entries.count, 2, name)
      XCTAssertEqual(try launch.store.names().filter { $0.contains(".history-") }, [], name)

      bad.below = [Page("new", "new")]
      good.text = "edited"
      _ = try await keeper.save([bad, good])
      let moments = try launch.store.names().filter { $0.contains(".history-") }
      XCTAssertTrue(moments.count == 1 && moments[0].contains("-damaged-"), "\(name): \(moments)")
      await keeper.close()
      for _ in 0..<2 { try await relaunch([Page("bad"), Page("good"), Page("more")]) }
      let stored = try allTextsAndHistory()
      XCTAssertTrue(stored.isSuperset(of: texts.values), "\(name): \(stored)")
      XCTAssertEqual(try self.texts("bad/new"), ["new"], name)
    }
  }

  func testContentsOfAnotherTypeAreLeftOut() async throws {
    let records: [(KeyedEncoder) -> Void] = [
      { _ in }, { $0.encode("text", forKey: "ids") }, { $0.encode([1, 2], forKey: "ids") },
      { encoder in
        Contents([3], ["x"]).encode(with: encoder)
        encoder.encode("text", forKey: "other")
      },
    ]
    for (number, record) in records.enumerated() {
      launch = Launch()
      try store([0: Contents([1], ["a"])], texts: [1: "a", 3: "below"], others: [3: record])
      let page = Page("a")
      let keeper = try keeper()
      let report = try await keeper.restore(into: [page])
      XCTAssertEqual(page.text, "a")
      XCTAssertEqual(report.entries.count, number == 3 ? 2 : 1)
      page.text = "edited"
      _ = try await keeper.save([page])
      XCTAssertTrue(try allTextsAndHistory().contains("below"))
    }
  }

  func testAMalformedListOfWhatIsKeptHidesNothing() async throws {
    // What is kept, and unread bodies of the first element.
    func list(
      kept: [UInt64], reasons: [UInt8], unread: [UInt64], lacksForms: Bool = false
    ) -> (KeyedEncoder) -> Void {
      { encoder in
        let ids = kept.map { _ in 0 as UInt64 } + unread
        encoder.encode(kept + unread.map { _ in 1 }, forKey: "owners")
        encoder.encode(ids, forKey: "ids")
        if !lacksForms { encoder.encode(ids.map { _ in 7 }, forKey: "forms") }
        encoder.encode(reasons + unread.map { _ in 200 as UInt8 }, forKey: "reasons")
        encoder.encode(ids.map { _ in Date(timeIntervalSinceReferenceDate: 1) }, forKey: "since")
      }
    }
    let lists = [
      list(kept: [1, 99], reasons: [0], unread: []), list(kept: [], reasons: [], unread: [5]),
      list(kept: [], reasons: [], unread: [1]), list(kept: [], reasons: [], unread: [.max]),
      list(kept: [99, 0, .max], reasons: [0, 1, 250], unread: []),
      list(kept: [1], reasons: [0], unread: [], lacksForms: true),
      { $0.encode(1, forKey: "owners") },
    ]
    for (number, list) in lists.enumerated() {
      launch = Launch()
      try store(
        [0: Contents([1], ["a"])], texts: [1: "a", 5: "unread"], others: [.max - 1: list])
      let page = Page("a")
      let keeper = try keeper()
      let report = try await keeper.restore(into: [page])
      XCTAssertEqual(report.outcome, .restored, "\(number)")
      XCTAssertEqual(page.text, "a", "\(number)")
      page.text = "edited"
      _ = try await keeper.save([page])
      // In the list but one nothing is malformed, and the body belongs to nobody.
      if number != 4 {
        XCTAssertTrue(try allTextsAndHistory().isSuperset(of: ["a", "unread"]), "\(number)")
      }
    }
  }

  /// The list of what is kept, with an unread body of the application.
  private func unreadOfApplication(form: Int) -> (KeyedEncoder) -> Void {
    { encoder in
      encoder.encode([0 as UInt64], forKey: "owners")
      encoder.encode([5 as UInt64], forKey: "ids")
      encoder.encode([form], forKey: "forms")
      encoder.encode([7 as UInt8], forKey: "reasons")
      encoder.encode([Date(timeIntervalSinceReferenceDate: 800_000_000)], forKey: "since")
    }
  }

  func testAnUnreadBodyOfTheApplicationNeedsNoForm() async throws {
    struct Failure: Error {}
    for form in [0, 7, -1, .max, .min] {
      launch = Launch()
      try store(
        [0: Contents([1], ["a"])], texts: [1: "a", 5: "unread"],
        others: [.max - 1: unreadOfApplication(form: form)])
      let page = Page("a")
      let delegate = TestDelegate()
      delegate.onWillEncode = { _ in throw Failure() }
      let keeper = try keeper(delegate: delegate)
      let report = try await keeper.restore(into: [page])
      XCTAssertEqual(report.outcome, .restored, "\(form)")
      page.text = "edited"
      let saved = try await keeper.save([page])
      XCTAssertFalse(saved.description.isEmpty)
      XCTAssertEqual(Set(try allTexts()), ["edited", "unread"], "\(form)")
    }
  }

  /// Restores a page with an own and an unread body in a launch that opens no record with a long text.
  private func restoreShort(own: String, unread: String) async throws -> (Page, [ElementOutcome]) {
    let list: (KeyedEncoder) -> Void = { encoder in
      encoder.encode([1 as UInt64], forKey: "owners")
      encoder.encode([5 as UInt64], forKey: "ids")
      encoder.encode([0], forKey: "forms")
      // Its decoding threw, so it is offered first.
      encoder.encode([6 as UInt8], forKey: "reasons")
      encoder.encode([Date(timeIntervalSinceReferenceDate: 800_000_000)], forKey: "since")
    }
    try store([0: Contents([1], ["a"])], texts: [1: own, 5: unread], others: [.max - 1: list])
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys,
      limits: ArchiveLimits(stringByteCount: 50))
    try keeper.register(Page.self, as: "Page")
    let page = Page("a", "before")
    let report = try await keeper.restore(into: [page])
    XCTAssertEqual(report.outcome, .restored)
    _ = try await keeper.save([page])
    await keeper.close()
    return (page, report.entries.map(\.outcome))
  }

  func testAnUnreadBodyThatDoesNotOpenLeavesTheOwnOneToItsObject() async throws {
    let long = String(repeating: "u", count: 100)
    let (page, outcomes) = try await restoreShort(own: "own", unread: long)
    XCTAssertEqual(page.text, "own")
    XCTAssertEqual(outcomes, [.restored(by: .existing)])
    XCTAssertEqual(try allTexts(), ["own", long])
  }

  func testABodyThatDoesNotOpenIsNotDecodedAndStaysStored() async throws {
    let long = String(repeating: "u", count: 100)
    let (page, outcomes) = try await restoreShort(own: long, unread: long + "2")
    XCTAssertEqual(page.text, "before")
    XCTAssertEqual(outcomes.count, 1)
    guard case .decodeFailed(by: .existing, _)? = outcomes.first else {
      return XCTFail("\(outcomes)")
    }
    XCTAssertEqual(try allTexts(), [long, long + "2"])
  }

  func testWhoCouldNotSeeAStateThatDoesNotOpenCannotVetoIt() async throws {
    let long = String(repeating: "u", count: 100)
    try store([0: Contents([1], ["a"])], texts: [1: long])
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys,
      limits: ArchiveLimits(stringByteCount: 50))
    try keeper.register(Page.self, as: "Page") { _, coder in
      coder.contains("value") ? Page("a") : nil
    }
    let report = try await keeper.restore()
    guard case .factoryFailed? = report.outcome(of: "a") else { return XCTFail("\(report)") }
    _ = try await keeper.save([])
    XCTAssertEqual(try allTexts(), [long])
  }

  func testAnyDateSinceWhichSomethingIsKeptCanBeSaid() async throws {
    let dates: [Double] = [0, 1e12, 1e18, 1e300, -1e300, .infinity, -.infinity, .nan]
    for date in dates {
      launch = Launch()
      let list: (KeyedEncoder) -> Void = { encoder in
        encoder.encode([2 as UInt64], forKey: "owners")
        encoder.encode([0 as UInt64], forKey: "ids")
        encoder.encode([0], forKey: "forms")
        encoder.encode([0 as UInt8], forKey: "reasons")
        encoder.encode([Date(timeIntervalSinceReferenceDate: date)], forKey: "since")
      }
      try store(
        [0: Contents([1, 1], ["a", "b"])], texts: [1: "a", 2: "kept"], others: [.max - 1: list])
      let page = Page("a")
      let keeper = try keeper()
      let report = try await keeper.restore(into: [page])
      XCTAssertFalse(report.description.isEmpty)
      XCTAssertEqual(report.kept.count, 1)
      page.text = "edited"
      keeper.policy.keptByteCount = 0
      let saved = try await keeper.save([page])
      XCTAssertFalse(saved.description.isEmpty)
      XCTAssertFalse("\(saved.kept) \(report.kept)".isEmpty)
    }
  }

  func testAnUnreadBodyOfNobodyGoes() async throws {
    try store([0: Contents([1], ["a"])], texts: [1: "a", 5: "nobody's"])
    let page = Page("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    page.text = "edited"
    _ = try await keeper.save([page])
    XCTAssertEqual(try allTexts(), ["edited"])
  }

  func testAnElementWithoutItsRecordsComesBackWithoutState() async throws {
    try store([0: Contents([1, 1], ["a", "b"]), 2: Contents([3], ["c"])], texts: [1: "a"])
    let third = Page("c")
    let (first, second) = (Page("a"), Page("b", below: [third]))
    let keeper = try keeper()
    _ = try await keeper.restore(into: [first, second])
    XCTAssertEqual(first.text, "a")
    (second.text, third.text) = ("typed", "typed")
    _ = try await keeper.save([first, second])
    XCTAssertEqual(try allTexts(), ["a", "typed", "typed"])
  }

  func testADocumentEightThousandDeepComesBackAndIsSaved() async throws {
    let depth: UInt64 = 8000
    var contents: [UInt64: Contents] = [:]
    for id in 0..<depth { contents[id] = Contents([Int64(id) + 1], ["n"]) }
    try store(contents, texts: [depth: "deep"], idLimit: depth + 1)
    var pages: [Page] = []
    let keeper = try keeper { _, _ in
      let page = Page("n")
      pages.last?.below = [page]
      pages.append(page)
      return page
    }
    let report = try await keeper.restore()
    XCTAssertEqual(report.entries.count, Int(depth))
    XCTAssertEqual(pages.last?.text, "deep")
    pages.last?.text = "edited"
    let saved = try await keeper.save(pages.prefix(1).map { $0 })
    XCTAssertEqual(saved.entries.count, Int(depth))
    XCTAssertTrue(try allTexts().contains("edited"))
    // An array of nodes that lets go of the uppermost one first would recurse.
    while let page = pages.popLast() { page.below = [] }
  }

  func testIdentifiersNearTheLimitLeaveRoomForNewOnes() async throws {
    let limit = Element.largestID
    try store(
      [0: Contents([Int64(limit) - 1], ["a"])], texts: [limit - 1: "a"], idLimit: limit)
    let page = Page("a")
    let keeper = try keeper()
    let report = try await keeper.restore(into: [page])
    XCTAssertEqual(report.outcome, .restored)
    page.below = (0..<20).map { Page("n\($0)", "new") }
    _ = try await keeper.save([page])
    XCTAssertEqual(try allTexts().count, 21)
  }

  func testADocumentWithoutRoomForIdentifiersIsNotRestoredAndStays() async throws {
    for limit in [Element.largestID + 1, .max / 2, .max] {
      launch = Launch()
      try store([0: Contents([1], ["a"])], texts: [1: "a"], idLimit: limit)
      let keeper = try keeper()
      do {
        _ = try await keeper.restore(into: [Page("a")])
        XCTFail("is restored")
      } catch {}
      _ = try await keeper.save([Page("a", "new")])
      XCTAssertEqual(try allTextsAndHistory(), ["a", "new"])
    }
  }

  func testKeptElementsOfOneNameWithTheLargestNumberGetSmallOnes() async throws {
    var roots = Contents([1, 1, 1], ["a", "x", "x"])
    roots.siblings = [0, Int(Int32.max), Int(Int32.max)]
    try store([0: roots], texts: [1: "a", 2: "made", 3: "kept"])
    let delegate = TestDelegate()
    let made = Page("x")
    var isFirst = true
    delegate.onNode = { path, _ in
      guard path.identifier == "x", isFirst else { return nil }
      isFirst = false
      return made
    }
    let keeper = try keeper(delegate: delegate)
    let page = Page("a")
    _ = try await keeper.restore(into: [page])
    // The first two are in the order in which they are stored, so that the number of the second stays.
    for roots in [[page, made, Page("new", "new")], [page, made], [made, page]] {
      _ = try await keeper.save(roots)
      XCTAssertTrue(try allTexts().contains("kept"))
    }
  }
}
