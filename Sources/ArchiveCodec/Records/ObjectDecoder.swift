/// Reads the values of a record, or of an object in it, and the objects that
/// they refer to.
///
/// All references to one stored object give the same instance. Every reference checks the
/// class, before the object is made and also when it was made already. When the outermost
/// call returns, all objects that can be reached from its result have their values. If
/// that call throws, this decoder no longer gives the objects that the call made.
///
///     let objects = try record.objects(of: classes)
///     let owner = try objects.object(Person.self, forKey: "owner")
public final class ObjectDecoder {
  /// The values that are no objects.
  public let values: KeyedDecoder

  /// The version of the class that wrote the object; 0 for a record.
  public let version: UInt32

  /// The number of the object, -1 for a record.
  private let number: Int
  private let graph: ObjectGraph

  init(_ values: KeyedDecoder, version: UInt32, number: Int, graph: ObjectGraph) {
    self.values = values
    self.version = version
    self.number = number
    self.graph = graph
  }

  /// Reads a reference to an object, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The class to decode as: the stored object is of this class, or
  ///     of one that was registered with it among its superclasses.
  ///   - key: The key that the object was encoded with.
  /// - Returns: The object, or nil if the key is absent.
  /// - Throws: ``ArchiveError`` with `classNotRegistered`, `classRefused`,
  ///   `classTooNew`, `objectCycle`, `objectFailed`, `limitExceeded` or
  ///   `typeMismatch`, and the keys that lead to the object in its path; and the errors
  ///   of the object's class.
  /// - Complexity: O(*n*) in the objects that were not made before.
  public func object<Object: ArchiveObject>(
    _ type: Object.Type = Object.self, forKey key: String
  ) throws -> Object? {
    try graph.run {
      guard let value = try values.reader(of: key) else { return nil }
      return try object(value, type, key)
    }
  }

  /// Reads references to objects, nil if there are none.
  ///
  /// - Parameters:
  ///   - type: The class to decode as.
  ///   - key: The key that the objects were encoded with.
  /// - Returns: The objects in order, or nil if the key is absent.
  /// - Throws: As ``object(_:forKey:)``.
  public func objects<Object: ArchiveObject>(
    _ type: Object.Type = Object.self, forKey key: String
  ) throws -> [Object]? {
    try graph.run {
      guard let array = try values.reader(of: key) else { return nil }
      guard array.header.kind == .array else { throw array.mismatch("array").at(key) }
      let block = values.block.bytes
      let bytes = block.span.extracting(values.record)
      var objects: [Object] = []
      objects.reserveCapacity(array.header.count)
      var offset = array.header.payload.lowerBound
      while offset < array.end {
        let element = try ValueReader(bytes, at: offset)
        objects.append(try object(element, type, key))
        offset = element.end
      }
      return objects
    }
  }

  /// Reads references to objects by name, nil if there are none.
  ///
  /// - Parameters:
  ///   - type: The class to decode as.
  ///   - key: The key that the objects were encoded with.
  /// - Returns: The objects, or nil if the key is absent.
  /// - Throws: As ``object(_:forKey:)``.
  public func objectDictionary<Object: ArchiveObject>(
    _ type: Object.Type = Object.self, forKey key: String
  ) throws -> [String: Object]? {
    try graph.run {
      guard let map = try values.reader(of: key) else { return nil }
      guard map.header.kind == .map else { throw map.mismatch("map").at(key) }
      let block = values.block.bytes
      let bytes = block.span.extracting(values.record)
      var cursor = ByteCursor(
        bytes, from: map.header.payload.lowerBound, to: map.header.payload.upperBound)
      var objects: [String: Object] = [:]
      while !cursor.isAtEnd {
        let name = values.text(of: try cursor.readKey(bytes))
        if CombiningMarks.areTooMany(in: name) {
          throw CombiningMarks.error(at: cursor.offset).at(key)
        }
        let value = try ValueReader(bytes, at: cursor.offset)
        objects[name] = try object(value, type, key)
        cursor.offset = value.end
      }
      guard objects.count == map.header.count else { throw map.equalKeys.at(key) }
      return objects
    }
  }

  /// Opens a container, nil if there is none.
  ///
  /// - Parameter key: The key that the container was encoded with.
  /// - Returns: A decoder for the values and objects of the container, or nil.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func container(forKey key: String) throws(ArchiveError) -> ObjectDecoder? {
    guard let inner = try values.container(forKey: key) else { return nil }
    return ObjectDecoder(inner, version: version, number: number, graph: graph)
  }

  private func object<Object: ArchiveObject>(
    _ value: ValueReader, _ type: Object.Type, _ key: String
  ) throws -> Object {
    guard case .localReference(let target) = value.header.kind else {
      throw value.mismatch("object").at(key)
    }
    return try graph.object(target, as: type, slot: value.offset, referrer: number)
  }
}

@available(*, unavailable, message: "a decoder belongs to the objects that it makes")
extension ObjectDecoder: Sendable {}

extension KeyedDecoder {
  /// Makes the objects of the record available.
  ///
  /// Use one decoder for all objects of a record: two decoders make two instances of one object.
  ///
  /// - Parameter classes: The classes whose objects may be made.
  /// - Returns: A decoder for the values of this record and its objects.
  /// - Throws: ``ArchiveError`` with `limitExceeded` if the objects would take
  ///   too much memory. No object is made yet.
  /// - Complexity: O(*n*) in the number of objects.
  public func objects(of classes: ArchiveClasses) throws(ArchiveError) -> ObjectDecoder {
    let graph = try ObjectGraph(self, classes: classes)
    return ObjectDecoder(self, version: 0, number: -1, graph: graph)
  }
}
