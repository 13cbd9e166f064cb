/// An object that follows the map of its record.
package struct ModelObject {
  package let name: ModelValue.Key
  package let version: UInt64
  package let map: ModelValue

  /// All that is left of a record.
  package static func all(
    _ reader: inout ModelReader
  ) throws(ModelReader.NotAValue) -> [ModelObject] {
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

  package var encoded: [UInt8] {
    [0xB0] + name.encoded + ModelValue.varint(version) + map.encoded
  }
}
