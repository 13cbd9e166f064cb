/// An object that follows the map of its record.
struct ModelObject {
  let name: ModelValue.Key
  let version: UInt64
  let map: ModelValue

  /// All that is left of a record.
  static func all(_ reader: inout ModelReader) throws(ModelReader.NotAValue) -> [ModelObject] {
    var objects: [ModelObject] = []
    while !reader.isAtEnd {
      guard try reader.byte() == 0xB0 else { throw ModelReader.NotAValue() }
      let name = try reader.key()
      let version = try reader.varint()
      let map = try reader.value()
      guard case .map = map else { throw ModelReader.NotAValue() }
      objects.append(ModelObject(name: name, version: version, map: map))
    }
    return objects
  }

  var encoded: [UInt8] { [0xB0] + name.encoded + ModelValue.varint(version) + map.encoded }

  func isAllowed(_ names: [String], _ objectCount: Int) -> Bool {
    version <= UInt64(UInt32.max) && ModelRecord.isAllowed(name, names, limit: 255)
      && ModelRecord.isAllowed(map, names, objectCount)
  }
}
