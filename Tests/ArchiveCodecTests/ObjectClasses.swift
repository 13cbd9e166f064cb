import ArchiveCodec

/// Made in two steps.
class Person: CyclicArchiveObject {
  var name = ""
  var friend: Person?
  var friends: [Person] = []
  var label: Label?
  var isDecoded = false

  required init() {}

  convenience init(_ name: String) {
    self.init()
    self.name = name
  }

  func encode(to encoder: KeyedEncoder) throws {
    encoder.encode(name, forKey: "name")
    encoder.encodeObject(friend, forKey: "friend")
    if !friends.isEmpty { encoder.encodeObjects(friends, forKey: "friends") }
    encoder.encodeObject(label, forKey: "label")
  }

  func decode(from decoder: ObjectDecoder) throws {
    name = try decoder.values.decode(forKey: "name")
    friend = try decoder.object(forKey: "friend")
    friends = try decoder.objects(forKey: "friends") ?? []
    label = try decoder.object(forKey: "label")
    isDecoded = true
  }
}

final class Student: Person {}

/// Made in one step.
final class Label: ImmutableArchiveObject {
  let text: String
  let next: Label?
  let owner: Person?
  nonisolated(unsafe) static var count = 0

  init(_ text: String, next: Label? = nil, owner: Person? = nil) {
    self.text = text
    self.next = next
    self.owner = owner
  }

  init(from decoder: ObjectDecoder) throws {
    Self.count += 1
    text = try decoder.values.decode(forKey: "text")
    next = try decoder.object(forKey: "next")
    owner = try decoder.object(forKey: "owner")
  }

  func encode(to encoder: KeyedEncoder) throws {
    encoder.encode(text, forKey: "text")
    encoder.encodeObject(next, forKey: "next")
    encoder.encodeObject(owner, forKey: "owner")
  }
}

/// Swallows what goes wrong in its two slots.
final class Careless: CyclicArchiveObject {
  var first: Label?
  var second: Label?
  var errors: [ArchiveError] = []

  init() {}

  func encode(to encoder: KeyedEncoder) throws {
    encoder.encodeObject(first, forKey: "first")
    encoder.encodeObject(first, forKey: "second")
  }

  func decode(from decoder: ObjectDecoder) throws {
    for key in ["first", "second"] {
      do {
        first = try decoder.object(forKey: key)
      } catch let error as ArchiveError {
        errors.append(error)
      }
    }
  }
}

extension ArchiveClasses {
  static func all() throws -> ArchiveClasses {
    var classes = ArchiveClasses()
    try classes.register(Person.self, name: "Person", aliases: ["Human"])
    try classes.register(Student.self, name: "Student", standingFor: [Person.self])
    try classes.register(Label.self, name: "Label")
    try classes.register(Careless.self, name: "Careless")
    return classes
  }
}

/// A record that is encoded and opened without a file.
func objectRecord(
  classes: ArchiveClasses? = nil, limits: ArchiveLimits = .standard,
  _ body: (KeyedEncoder) throws -> Void
) throws -> KeyedDecoder {
  let builder = RecordBuilder(limits: limits)
  builder.classes = try classes ?? .all()
  try builder.append(record: 1, body)
  let (maps, symbols) = try builder.finish().unsealed
  return try KeyedDecoder(unsealed: maps[0], symbols: symbols, limits: limits)
}
