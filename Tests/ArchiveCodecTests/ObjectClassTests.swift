import ArchiveCodec
import XCTest

final class ObjectClassTests: XCTestCase {
  private func assert(
    _ code: ArchiveError.Code, _ path: [String], _ subject: String,
    file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Void
  ) {
    XCTAssertThrowsError(try body(), file: file, line: line) { error in
      let error = error as? ArchiveError
      XCTAssertEqual(error?.code, code, file: file, line: line)
      XCTAssertEqual(error?.path, path, file: file, line: line)
      XCTAssertEqual(error?.subject, subject, file: file, line: line)
    }
  }

  func testAnUnregisteredClassIsNotWritten() throws {
    var classes = ArchiveClasses()
    try classes.register(Person.self, name: "Person")
    let ada = Person("Ada")
    ada.label = Label("tag")
    assert(.classNotRegistered, ["label"], "Label") {
      _ = try objectRecord(classes: classes) { $0.encodeObject(ada, forKey: "ada") }
    }
    // A subclass is not written as its superclass, which would lose the rest of it.
    assert(.classNotRegistered, ["s"], "Student") {
      _ = try objectRecord(classes: classes) { $0.encodeObject(Student("S"), forKey: "s") }
    }
  }

  func testAnUnregisteredClassIsNotMade() throws {
    let ada = Person("Ada")
    ada.friends = [Person("Bob")]
    ada.friends[0].label = Label("tag")
    let record = try objectRecord { $0.encodeObject(ada, forKey: "ada") }
    var classes = ArchiveClasses()
    try classes.register(Person.self, name: "Person")
    assert(.classNotRegistered, ["ada", "friends", "label"], "Label") {
      _ = try record.objects(of: classes).object(Person.self, forKey: "ada")
    }
  }

  func testNamesThatOnlyLookLikeARegisteredOneAreRefused() throws {
    let lookAlikes = [
      "person", "PERSON", "Реrson", "Person\0", "Person ", " Person", "ArchiveCodecTests.Person",
      "$s17ArchiveCodecTests6PersonC", "NSObject", "Pers\u{F6}n",
    ]
    for name in lookAlikes {
      var classes = ArchiveClasses()
      try classes.register(Person.self, name: name)
      let record = try objectRecord(classes: classes) { $0.encodeObject(Person(""), forKey: "p") }
      assert(.classNotRegistered, ["p"], name) {
        _ = try record.objects(of: .all()).object(Person.self, forKey: "p")
      }
    }
  }

  func testAClassIsRefusedAtASlotForAnother() throws {
    let record = try objectRecord { encoder in
      encoder.encodeObject(Label("tag"), forKey: "label")
      encoder.encodeObjects([Person("Ada"), Label("tag")], forKey: "people")
    }
    let objects = try record.objects(of: .all())
    Label.count = 0
    assert(.classRefused, ["label"], "found Label, expected Person") {
      _ = try objects.object(Person.self, forKey: "label")
    }
    assert(.classRefused, ["people"], "found Label, expected Person") {
      _ = try objects.objects(Person.self, forKey: "people")
    }
    XCTAssertEqual(Label.count, 0, "A refused class was made.")
    XCTAssertNotNil(try objects.object(Label.self, forKey: "label"))
  }

  func testAnObjectThatWasMadeIsRefusedAtASlotForAnotherClass() throws {
    let label = Label("tag")
    let record = try objectRecord { encoder in
      encoder.encodeObject(label, forKey: "right")
      encoder.encodeObject(label, forKey: "wrong")
    }
    let objects = try record.objects(of: .all())
    XCTAssertNotNil(try objects.object(Label.self, forKey: "right"))
    assert(.classRefused, ["wrong"], "found Label, expected Person") {
      _ = try objects.object(Person.self, forKey: "wrong")
    }
  }

  func testASubclassFillsASlotOnlyIfItIsRegisteredSo() throws {
    let record = try objectRecord { $0.encodeObject(Student("Sue"), forKey: "person") }
    XCTAssertTrue(
      try record.objects(of: .all()).object(Person.self, forKey: "person") is Student)
    var classes = ArchiveClasses()
    try classes.register(Person.self, name: "Person")
    try classes.register(Student.self, name: "Student")
    assert(.classRefused, ["person"], "found Student, expected Person") {
      _ = try record.objects(of: classes).object(Person.self, forKey: "person")
    }
    // What stands for a class that it is no kind of is refused too.
    var lying = ArchiveClasses()
    try lying.register(Student.self, name: "Student", standingFor: [Label.self])
    assert(.classRefused, ["person"], "found Student, expected Label") {
      _ = try record.objects(of: lying).object(Label.self, forKey: "person")
    }
  }

  func testAnAliasOpensWhatTheOldNameWrote() throws {
    var old = ArchiveClasses()
    try old.register(Person.self, name: "Human")
    let record = try objectRecord(classes: old) { $0.encodeObject(Person("Ada"), forKey: "p") }
    XCTAssertEqual(try record.objects(of: .all()).object(Person.self, forKey: "p")?.name, "Ada")
  }

  func testANewerVersionOfAClassIsRefused() throws {
    var newer = ArchiveClasses()
    try newer.register(Person.self, name: "Person", version: 2)
    let record = try objectRecord(classes: newer) { $0.encodeObject(Person("Ada"), forKey: "p") }
    XCTAssertNotNil(try record.objects(of: newer).object(Person.self, forKey: "p"))
    assert(.classTooNew, ["p"], "Person of version 2") {
      _ = try record.objects(of: .all()).object(Person.self, forKey: "p")
    }
  }

  func testASpellingOfTheNameOfAClassIsAnotherName() throws {
    var (composed, both) = (ArchiveClasses(), ArchiveClasses())
    try composed.register(Person.self, name: "\u{E9}")
    try both.register(Person.self, name: "\u{E9}")
    try both.register(Label.self, name: "e\u{301}")
    let record = try objectRecord(classes: both) { $0.encodeObject(Label("a"), forKey: "p") }
    XCTAssertNotNil(try record.objects(of: both).object(Label.self, forKey: "p"))
    assert(.classNotRegistered, ["p"], "e\u{301}") {
      _ = try record.objects(of: composed).object(Person.self, forKey: "p")
    }
  }

  func testNamesThatCannotBeRegisteredAreRefused() throws {
    var classes = try ArchiveClasses.all()
    for name in ["", String(repeating: "a", count: 256)] {
      XCTAssertThrowsError(try classes.register(Person.self, name: name))
    }
    assert(.classNameTaken, [], "Person") {
      try classes.register(Label.self, name: "Person")
    }
    assert(.classNameTaken, [], "Human") {
      try classes.register(Label.self, name: "Label", aliases: ["Human"])
    }
    assert(.classNameTaken, [], "Other") { try classes.register(Person.self, name: "Other") }
    try classes.register(Person.self, name: "Person", version: 3)
    var longest = ArchiveClasses()
    try longest.register(Person.self, name: String(repeating: "a", count: 255))
  }

  func testACycleOfOneStepObjectsIsAnError() throws {
    // No program can build one, so it is written as a person, and read as a label.
    let ada = Person("Ada")
    let bob = Person("Bob")
    (ada.friend, bob.friend) = (bob, ada)
    let record = try objectRecord { $0.encodeObject(ada, forKey: "p") }
    var classes = ArchiveClasses()
    try classes.register(Ring.self, name: "Person")
    assert(.objectCycle, ["p", "friend", "friend"], "Person") {
      _ = try record.objects(of: classes).object(Ring.self, forKey: "p")
    }
  }

  func testAnObjectThatFailedIsNeverHandedOut() throws {
    let careless = Careless()
    careless.first = Label("tag")
    let record = try objectRecord { $0.encodeObject(careless, forKey: "c") }
    let back = try XCTUnwrap(record.objects(of: failing()).object(Careless.self, forKey: "c"))
    XCTAssertNil(back.first)
    XCTAssertEqual(back.errors.map(\.code), [.keyNotFound, .objectFailed])
    XCTAssertEqual(back.errors.map(\.path), [["c", "first", "missing"], ["c", "second"]])
  }

  private func failing() throws -> ArchiveClasses {
    var classes = ArchiveClasses()
    try classes.register(Careless.self, name: "Careless")
    try classes.register(Failing.self, name: "Label", standingFor: [Label.self])
    return classes
  }

  func testWhenASecondStepFailsNothingOfItCanBeHad() throws {
    let ada = Person("Ada")
    let bob = Person("Bob")
    ada.friend = bob
    bob.label = Label("tag")
    let record = try objectRecord { encoder in
      encoder.encodeObject(ada, forKey: "ada")
      encoder.encodeObject(bob, forKey: "bob")
    }
    var classes = ArchiveClasses()
    try classes.register(Person.self, name: "Person")
    let objects = try record.objects(of: classes)
    assert(.classNotRegistered, ["ada", "friend", "label"], "Label") {
      _ = try objects.object(Person.self, forKey: "ada")
    }
    assert(.objectFailed, ["ada"], "Person") {
      _ = try objects.object(Person.self, forKey: "ada")
    }
    assert(.objectFailed, ["bob"], "Person") {
      _ = try objects.object(Person.self, forKey: "bob")
    }
  }
}

private final class Ring: ImmutableArchiveObject {
  init(from decoder: ObjectDecoder) throws {
    _ = try decoder.object(Ring.self, forKey: "friend")
  }

  func encode(to encoder: KeyedEncoder) throws {}
}

private final class Failing: ImmutableArchiveObject {
  init(from decoder: ObjectDecoder) throws {
    _ = try decoder.values.decode(String.self, forKey: "missing")
  }

  func encode(to encoder: KeyedEncoder) throws {}
}
