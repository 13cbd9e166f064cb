internal import ArchiveCodec

/// The values of one scene, which its session has while there is no scene.
extension ValueStore {
  /// Takes what is stored; what was set already stays.
  func take(_ stored: [String: ValueContent]) {
    fill(with: stored.sorted { $0.key < $1.key }.map { (key: $0.key, stored: $0.value) })
  }

  /// All values.
  var encoded: [String: ValueContent] {
    var values: [String: ValueContent] = [:]
    for key in storedKeys { values[key] = content(of: key) }
    return values
  }

  /// The values of a scene in its file, but for those that the restore leaves out.
  static func contents(in tree: StoredTree) -> [String: ValueContent] {
    var contents: [String: ValueContent] = [:]
    forEachStored(in: tree.outline) { place in
      tree.leftOut.contains(place) ? nil : tree.values.state(at: place)
    } _: { key, stored in
      contents[key] = stored
    }
    return contents
  }
}
