internal import ArchiveCodec

/// What restores leave out since they crashed in it: an element, then the one above it.
///
/// It is left out as long as it is kept as it was, by the version of the app that crashed.
/// Another one may have mended it, and what was saved since is another state.
struct SkippedElements: Hashable, Codable, Sendable {
  private struct Element: Hashable, Codable {
    let kind: ElementKind
    let path: RestorationPath
  }

  private var elements: [Element] = []
  /// The state in which the restore crashed last.
  private var version: ArchiveVersion?
  private var applicationVersion: String?

  /// How many crashes in a row are answered by leaving out a part of the state.
  static let largestCount = 2

  /// Leaves out more after another crash; false if nothing but the whole state is left.
  ///
  /// - Parameters:
  ///   - place: Where the restore crashed.
  ///   - tree: What it restored.
  ///   - count: How many crashes in a row were answered so before.
  ///   - applicationVersion: The version of the app.
  /// - Returns: Whether a part of the state is left to be restored.
  mutating func add(
    _ place: Int, of tree: StoredTree, after count: Int, by applicationVersion: String?
  ) -> Bool {
    let rows = tree.outline.rows
    guard rows.indices.contains(place), count < Self.largestCount else { return false }
    var added = [place]
    if count > 0 {
      // Nobody could do without what was left out.
      let skipped = places(in: tree, by: applicationVersion)
      guard !skipped.isEmpty else { return false }
      for place in skipped {
        guard let parent = rows[place].parent else { return false }
        added.append(parent)
      }
    }
    for place in added {
      let element = Element(kind: rows[place].kind, path: tree.outline.path(of: place))
      if !elements.contains(element) { elements.append(element) }
    }
    (version, self.applicationVersion) = (tree.version, applicationVersion)
    return true
  }

  /// Finds what is left out of a state, and forgets what is not there any more.
  ///
  /// - Complexity: O(*n*) in the elements of the tree, if anything is left out.
  mutating func take(in tree: StoredTree, by applicationVersion: String?) -> Set<Int> {
    guard !elements.isEmpty else { return [] }
    let places = places(in: tree, by: applicationVersion)
    elements = places.sorted().map {
      Element(kind: tree.outline.rows[$0].kind, path: tree.outline.path(of: $0))
    }
    if elements.isEmpty { self = SkippedElements() }
    return places
  }

  /// Where they are.
  var paths: [RestorationPath] { elements.map(\.path) }

  /// Whether the last crash was in this very state.
  func isOf(_ tree: StoredTree) -> Bool { version == tree.version }

  private func places(in tree: StoredTree, by applicationVersion: String?) -> Set<Int> {
    guard applicationVersion == self.applicationVersion else { return [] }
    let all = Set(elements)
    // A whole path takes as long as it is deep, so it is compared only where it may be equal.
    let depths = Set(elements.map(\.path.count))
    let identifiers = Set(elements.compactMap(\.path.identifier))
    let outline = tree.outline
    return Set(
      outline.rows.indices.filter { place in
        guard tree.version == version || outline.isKept(place) else { return false }
        let path = outline.path(of: place)
        return depths.contains(path.count) && identifiers.contains(outline.identifier(of: place))
          && all.contains(Element(kind: outline.rows[place].kind, path: path))
      })
  }
}
