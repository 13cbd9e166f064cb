import ArchiveCodec

/// An object in a graph of any shape; as `A` made in two steps, as `B` in one.
class FuzzObject: CyclicArchiveObject {
  var next: FuzzObject?
  var others: [FuzzObject] = []
  var leaf: FuzzLeaf?

  required init() {}

  func encode(to encoder: KeyedEncoder) throws {
    encoder.encodeObject(next, forKey: "a")
    encoder.encodeObjects(others, forKey: "b")
    encoder.encodeObject(leaf, forKey: "c")
  }

  func decode(from decoder: ObjectDecoder) throws {
    next = try decoder.object(forKey: "a")
    others = try decoder.objects(forKey: "b") ?? []
    leaf = try decoder.object(forKey: "c")
  }
}

final class FuzzLeaf: ImmutableArchiveObject {
  let next: FuzzLeaf?
  let owner: FuzzObject?

  init(owner: FuzzObject?) {
    next = nil
    self.owner = owner
  }

  init(from decoder: ObjectDecoder) throws {
    next = try? decoder.object(forKey: "a")
    owner = try decoder.object(forKey: "b")
  }

  func encode(to encoder: KeyedEncoder) throws {
    encoder.encodeObject(next, forKey: "a")
    encoder.encodeObject(owner, forKey: "b")
  }
}

extension FuzzObject {
  private static var classes: ArchiveClasses {
    get throws {
      var classes = ArchiveClasses()
      try classes.register(FuzzObject.self, name: "A")
      try classes.register(FuzzLeaf.self, name: "B")
      return classes
    }
  }

  static func seed() throws -> [UInt8] {
    let (first, second) = (FuzzObject(), FuzzObject())
    (first.next, second.others) = (second, [first, second])
    second.leaf = FuzzLeaf(owner: first)
    let classes = try classes
    return try ValuesTarget.record(classes) { $0.encodeObject(first, forKey: "a") }
  }

  /// Asks for every object in every way; what cannot be had is an archive error.
  static func decodeAll(of record: KeyedDecoder) throws {
    let objects = try record.objects(of: classes)
    for key in record.keys {
      do {
        if let object = try objects.object(FuzzObject.self, forKey: key) { takeApart(object) }
      } catch is ArchiveError {}
      do {
        _ = try objects.object(FuzzLeaf.self, forKey: key)
      } catch is ArchiveError {}
      do {
        try objects.objects(FuzzObject.self, forKey: key)?.forEach(takeApart)
      } catch is ArchiveError {}
      do {
        try objects.objectDictionary(FuzzObject.self, forKey: key)?.values.forEach(takeApart)
      } catch is ArchiveError {}
    }
  }

  /// Ends cycles and long chains, which would leak or overflow the stack.
  private static func takeApart(_ object: FuzzObject) {
    var stack = [object]
    while let object = stack.popLast() {
      stack += [object.next, object.leaf?.owner].compactMap(\.self) + object.others
      (object.next, object.others, object.leaf) = (nil, [], nil)
    }
  }
}
