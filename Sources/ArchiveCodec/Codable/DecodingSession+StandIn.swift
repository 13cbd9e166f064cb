/// Fields that are not stored, and are taken from another value of the type.
extension DecodingSession {
  /// The fields of the other value in the place of a map, if it has one of a name there.
  ///
  /// There are none below arrays and dictionaries: whose elements those are, nobody knows.
  ///
  /// - Complexity: O(*n*) in the entries of the maps on the way.
  func standIn(forKey name: String, of entries: MapEntries) throws -> MapEntries? {
    guard let standIn else { return nil }
    var fields = try standIn.map(at: standIn.root)
    for key in codingPath(to: entries.offset).dropFirst(codingPath(to: root).count) {
      guard !(key is IndexKey), let map = fields, map.isField(key.stringValue),
        let value = try map.value(key.stringValue)
      else { return nil }
      fields = try standIn.map(at: value.offset)
    }
    return fields.flatMap { $0.isField(name) ? $0 : nil }
  }

  private func map(at offset: Int) throws -> MapEntries? {
    let reader = try reader(at: offset)
    return reader.header.kind == .map ? MapEntries(self, reader) : nil
  }
}
