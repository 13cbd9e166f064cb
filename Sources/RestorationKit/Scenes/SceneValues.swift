internal import ArchiveCodec

/// The values of one scene, which its session has while there is no scene.
extension ValueStore {
  /// Takes what is stored; what was set already stays.
  func take(_ stored: [String: StoredValue]) {
    fill(
      with: stored.sorted { $0.key < $1.key }.map { key, value in
        (key: key, stored: RestoredContent(value.content))
      })
  }

  /// All values but those with a sensitivity, which the file of the scene alone may have.
  var encoded: [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    for key in storedKeys {
      if let content = plainContent(of: key) { values[key] = StoredValue(content) }
    }
    return values
  }

  /// The values of a scene in its file, but for those with a sensitivity, and for those that
  /// the restore leaves out.
  static func plainContents(in tree: StoredTree) -> [String: ValueContent] {
    var contents: [String: ValueContent] = [:]
    forEachStored(in: tree.outline) { place in
      tree.leftOut.contains(place) ? nil : tree.values.state(at: place)
    } _: { key, stored in
      if stored.sensitivity == nil { contents[key] = stored.content }
    }
    return contents
  }
}
