import ArchiveCodec
import XCTest

final class ObjectGraphTests: XCTestCase {
  func testAnObjectThatTwoReferToComesBackAsOne() throws {
    let ada = Person("Ada")
    let record = try objectRecord { encoder in
      encoder.encodeObject(ada, forKey: "one")
      encoder.encodeObjects([ada, Person("Bob"), ada], forKey: "many")
      encoder.encodeObjects(["b": ada, "a": Person("Cy")], forKey: "named")
    }
    let objects = try record.objects(of: .all())
    let one = try XCTUnwrap(objects.object(Person.self, forKey: "one"))
    let many = try XCTUnwrap(objects.objects(Person.self, forKey: "many"))
    let named = try XCTUnwrap(objects.objectDictionary(Person.self, forKey: "named"))
    XCTAssertEqual(many.map(\.name), ["Ada", "Bob", "Ada"])
    XCTAssertEqual(named.mapValues(\.name), ["a": "Cy", "b": "Ada"])
    XCTAssertTrue(many[0] === one && many[2] === one && named["b"] === one)
    XCTAssertNil(try objects.object(Person.self, forKey: "nobody"))
  }

  func testCyclesOfObjectsThatAreMadeInTwoStepsComeBack() throws {
    let narcissus = Person("Narcissus")
    narcissus.friend = narcissus
    let ada = Person("Ada")
    let bob = Person("Bob")
    ada.friend = bob
    bob.friends = [narcissus, ada]
    let record = try objectRecord { encoder in
      encoder.encodeObject(ada, forKey: "ada")
      encoder.encodeObject(narcissus, forKey: "narcissus")
    }
    let objects = try record.objects(of: .all())
    let back = try XCTUnwrap(objects.object(Person.self, forKey: "ada"))
    let self1 = try XCTUnwrap(objects.object(Person.self, forKey: "narcissus"))
    XCTAssertTrue(self1.friend === self1)
    XCTAssertTrue(back.friend?.friends[1] === back)
    XCTAssertTrue(back.friend?.friends[0] === self1)
  }

  func testAnObjectThatIsMadeInOneStepGetsWhatItRefersToBefore() throws {
    let record = try objectRecord { encoder in
      encoder.encodeObject(Label("a", next: Label("b", next: Label("c"))), forKey: "label")
    }
    let label = try record.objects(of: .all()).object(Label.self, forKey: "label")
    XCTAssertEqual(label?.next?.next?.text, "c")
  }

  func testACycleThroughATwoStepObjectIsFineForAOneStepOne() throws {
    let ada = Person("Ada")
    ada.label = Label("tag", owner: ada)
    let record = try objectRecord { $0.encodeObject(ada, forKey: "ada") }
    let back = try XCTUnwrap(record.objects(of: .all()).object(Person.self, forKey: "ada"))
    XCTAssertTrue(back.label?.owner === back)
    // Asked for by its own key first, the label is made before its owner has its values.
    let tagged = try objectRecord { $0.encodeObject(ada.label, forKey: "tag") }
    let tag = try XCTUnwrap(tagged.objects(of: .all()).object(Label.self, forKey: "tag"))
    XCTAssertEqual(tag.owner?.name, "Ada")
    XCTAssertTrue(tag.owner?.label === tag)
  }

  func testAMillionObjectsInARingComeBack() throws {
    let count = 1_000_000
    var people = (0..<count).map { _ in Person("") }
    for place in people.indices { people[place].friend = people[(place + 1) % count] }
    let record = try objectRecord { $0.encodeObject(people[0], forKey: "first") }
    let first = try XCTUnwrap(record.objects(of: .all()).object(Person.self, forKey: "first"))
    var last = first
    for _ in 1..<count { last = try XCTUnwrap(last.friend) }
    XCTAssertTrue(last.friend === first)
    Self.takeApart(first)
    Self.takeApart(people[0])
    people = []
  }

  func testAChainOfAHundredThousandObjectsComesBack() throws {
    let first = Person("first")
    var last = first
    for number in 1..<100_000 {
      let next = Person("\(number)")
      last.friend = next
      last = next
    }
    let record = try objectRecord { $0.encodeObject(first, forKey: "first") }
    let back = try XCTUnwrap(record.objects(of: .all()).object(Person.self, forKey: "first"))
    var count = 1
    var end = back
    while let next = end.friend { (end, count) = (next, count + 1) }
    XCTAssertEqual(count, 100_000)
    XCTAssertEqual(end.name, "99999")
    Self.takeApart(back)
    Self.takeApart(first)
  }

  /// Releases a chain one by one, which would overflow the stack otherwise.
  private static func takeApart(_ first: Person) {
    var next: Person? = first
    while let person = next {
      next = person.friend
      person.friend = nil
    }
  }

  func testAChainOfOneStepObjectsIsLimitedInLength() throws {
    func chain(_ count: Int) -> Label {
      (0..<count).reduce(Label("end")) { next, _ in Label("x", next: next) }
    }
    let limits = ArchiveLimits(depth: 4)
    let fits = try objectRecord(limits: limits) { $0.encodeObject(chain(15), forKey: "label") }
    XCTAssertNotNil(try fits.objects(of: .all()).object(Label.self, forKey: "label"))
    let record = try objectRecord(limits: limits) { $0.encodeObject(chain(16), forKey: "label") }
    XCTAssertThrowsError(try record.objects(of: .all()).object(Label.self, forKey: "label")) {
      XCTAssertEqual(($0 as? ArchiveError)?.code, .limitExceeded)
      XCTAssertEqual(
        ($0 as? ArchiveError)?.path, ["label"] + Array(repeating: "next", count: 16))
    }
  }

  func testManyLevelsOfSharedReferencesTakeLinearTime() throws {
    var level = [Person("leaf"), Person("leaf")]
    for _ in 0..<60 {
      let above = [Person("a"), Person("b")]
      for person in above { person.friends = level }
      level = above
    }
    let record = try objectRecord { $0.encodeObjects(level, forKey: "top") }
    var back = try XCTUnwrap(record.objects(of: .all()).objects(Person.self, forKey: "top"))
    for _ in 0..<60 { back = back[0].friends }
    XCTAssertEqual(back.map(\.name), ["leaf", "leaf"])
  }

  func testObjectsInAContainerAreFoundThroughIt() throws {
    let ada = Person("Ada")
    let record = try objectRecord { encoder in
      encoder.encodeContainer(forKey: "inner") { $0.encodeObject(ada, forKey: "ada") }
      encoder.encodeObject(ada, forKey: "ada")
    }
    let objects = try record.objects(of: .all())
    let inner = try XCTUnwrap(objects.container(forKey: "inner"))
    let one = try inner.object(Person.self, forKey: "ada")
    XCTAssertEqual(one?.name, "Ada")
    XCTAssertTrue(try objects.object(Person.self, forKey: "ada") === one)
  }

  func testWhatIsUndoneTakesItsObjectsWithIt() throws {
    struct Refused: Error {}
    let ada = Person("Ada")
    let record = try objectRecord { encoder in
      try? encoder.encodeContainer(forKey: "lost") { encoder in
        encoder.encodeObject(Person("lost"), forKey: "person")
        throw Refused()
      }
      encoder.encodeObject(ada, forKey: "ada")
    }
    let plain = try objectRecord { $0.encodeObject(ada, forKey: "ada") }
    XCTAssertEqual(record.keys, plain.keys)
    XCTAssertEqual(
      try record.objects(of: .all()).object(Person.self, forKey: "ada")?.name, "Ada")
  }

  func testTheNextRecordHasObjectsOfItsOwn() throws {
    let ada = Person("Ada")
    let builder = RecordBuilder()
    builder.classes = try .all()
    for record in 1...2 as ClosedRange<UInt64> {
      try builder.append(record: record) { $0.encodeObject(ada, forKey: "ada") }
    }
    let (maps, symbols) = try builder.finish().unsealed
    XCTAssertEqual(maps[0], maps[1])
    let record = try KeyedDecoder(unsealed: maps[1], symbols: symbols)
    XCTAssertEqual(
      try record.objects(of: .all()).object(Person.self, forKey: "ada")?.name, "Ada")
  }

  func testObjectsComeBackFromASealedArchive() throws {
    let key = try ArchiveKey()
    let context = ArchiveContext(["objects"])
    let storage = MemoryStorage()
    let ada = Person("Ada")
    ada.friend = ada
    _ = try Archive.write(to: storage, slots: [.key(key)], context: context) { records in
      records.classes = try .all()
      try records.append(record: 7) { $0.encodeObject(ada, forKey: "ada") }
    }
    let archive = try XCTUnwrap(Archive.open(storage, key: key, context: context))
    try archive.verifyAll()
    let record = try XCTUnwrap(archive.record(7))
    let back = try record.objects(of: .all()).object(Person.self, forKey: "ada")
    XCTAssertTrue(back?.friend === back)
  }
}
