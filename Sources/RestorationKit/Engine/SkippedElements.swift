internal import ArchiveCodec

/// What restores leave out since they crashed in it: an element, then the one above it.
///
/// It is left out whatever is stored of it by now, by the version of the app that crashed:
/// another one may have mended it. One of them at a time is tried again, after 1, 2, 4, 8 and
/// more launches that left it out, twice as many after each crash.
struct SkippedElements: Hashable, Codable, Sendable {
  private struct Element: Hashable, Codable {
    let kind: ElementKind
    let path: RestorationPath
    /// How many launches leave it out before it is tried again; nil, as in what the version
    /// of the library before this wrote, is 1.
    var wait: Int?
    /// How many of them are left; nil is 1.
    var launchesLeft: Int?
    /// Whether the restore under way tries it.
    var isTried: Bool?
    /// Tells the launches that leave it out since the last try from those before that; nil, as in
    /// what an earlier version of the library wrote, is none yet.
    var period: LeftOutPeriod?

    var isDue: Bool { launchesLeft ?? 1 <= 0 }

    mutating func failTrial() {
      let wait = min((self.wait ?? 1) * 2, SkippedElements.longestWait)
      (self.wait, launchesLeft, isTried) = (wait, wait, nil)
    }

    func isSame(as other: Element) -> Bool { kind == other.kind && path == other.path }
  }

  private var elements: [Element] = []
  /// The state in which the restore crashed last.
  private var version: ArchiveVersion?
  private var applicationVersion: String?

  /// How many crashes in a row are answered by leaving out a part of the state.
  static let largestCount = 2
  /// An app that is started so often has crashed 20 times in one element.
  private static let longestWait = 1 << 20

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
      let skipped = places(in: tree, by: applicationVersion).keys.sorted()
      guard !skipped.isEmpty else { return false }
      for place in skipped {
        guard let parent = rows[place].parent else { return false }
        added.append(parent)
      }
    }
    for place in added {
      let element = Element(kind: rows[place].kind, path: tree.outline.path(of: place))
      if !elements.contains(where: element.isSame) { elements.append(element) }
    }
    (version, self.applicationVersion) = (tree.version, applicationVersion)
    return true
  }

  /// Finds what is left out of a state, and forgets what is not there any more.
  ///
  /// - Parameters:
  ///   - tree: The state.
  ///   - applicationVersion: The version of the app.
  ///   - mayTry: Whether the restore may try one of them again.
  /// - Returns: What is left out, by its places, and the one of these that is tried again.
  /// - Complexity: O(*n*) in the elements of the tree, if anything is left out.
  mutating func take(
    in tree: StoredTree, by applicationVersion: String?, mayTry: Bool
  ) -> (periods: [Int: LeftOutPeriod], tried: Int?) {
    guard !elements.isEmpty else { return ([:], nil) }
    let places = places(in: tree, by: applicationVersion)
    let ordered = places.sorted { $0.key < $1.key }
    elements = ordered.map { _, element in
      var element = element
      element.isTried = nil
      element.period = element.period ?? LeftOutPeriod()
      return element
    }
    if elements.isEmpty { self = SkippedElements() }
    // What is below another one that is left out could not be restored.
    let tried = ordered.indices.first { index in
      mayTry && elements[index].isDue
        && !isBelow(ordered[index].key, Set(places.keys), in: tree.outline)
    }
    if let tried {
      elements[tried].isTried = true
      // What is stored of it by now is decoded by this launch.
      elements[tried].period = LeftOutPeriod()
    }
    let periods = zip(ordered, elements).map { ($0.key, $1.period ?? LeftOutPeriod()) }
    return (Dictionary(uniqueKeysWithValues: periods), tried.map { ordered[$0].key })
  }

  private func isBelow(_ place: Int, _ places: Set<Int>, in outline: StoredOutline) -> Bool {
    var next = outline.rows[place].parent
    while let above = next {
      if places.contains(above) { return true }
      next = outline.rows[above].parent
    }
    return false
  }

  /// Whether the restore under way tries one of them again.
  var isTrial: Bool { elements.contains { $0.isTried == true } }

  /// Notes that what was tried has crashed again.
  mutating func failTrial() {
    change { if $0.isTried == true { $0.failTrial() } }
  }

  /// Notes the end of a launch that has restored: what it tried is restored again, unless that
  /// has crashed after the restore.
  mutating func endLaunch(_ hasCrashed: (RestorationPath) -> Bool) {
    elements.removeAll { $0.isTried == true && !hasCrashed($0.path) }
    change { element in
      if element.isTried == true {
        element.failTrial()
      } else {
        element.launchesLeft = max(0, (element.launchesLeft ?? 1) - 1)
      }
    }
    if elements.isEmpty { self = SkippedElements() }
  }

  /// Lets the next restores try all of them again, one at a time.
  mutating func retry() { change { $0.launchesLeft = 0 } }

  private mutating func change(_ body: (inout Element) -> Void) {
    for index in elements.indices { body(&elements[index]) }
  }

  /// Where they are.
  var paths: [RestorationPath] { elements.map(\.path) }

  /// Whether the last crash was in this very state.
  func isOf(_ tree: StoredTree) -> Bool { version == tree.version }

  private func places(
    in tree: StoredTree, by applicationVersion: String?
  ) -> [Int: Element] {
    guard applicationVersion == self.applicationVersion else { return [:] }
    // A whole path takes as long as it is deep, so it is compared only where it may be equal.
    let depths = Set(elements.map(\.path.count))
    let identifiers = Set(elements.compactMap(\.path.identifier))
    let outline = tree.outline
    var found: [Int: Element] = [:]
    for place in outline.rows.indices where identifiers.contains(outline.identifier(of: place)) {
      let path = outline.path(of: place)
      guard depths.contains(path.count) else { continue }
      let here = Element(kind: outline.rows[place].kind, path: path)
      found[place] = elements.first(where: here.isSame)
    }
    return found
  }
}
