internal import ArchiveCodec

/// The elements that restores leave out since they crashed in them: an element, then
/// the one above it.
///
/// An element is left out whatever state it has by now, as long as the version of the app runs that
/// crashed: another version may have mended the crash. One element at a time is tried again, after
/// 1, 2, 4, 8 and more launches that left it out; each new crash doubles the wait.
struct SkippedElements: Hashable, Codable, Sendable {
  private struct Element: Hashable, Codable {
    let kind: ElementKind
    let path: RestorationPath
    /// How many launches leave the element out before it is tried again; nil, which older versions
    /// of the library wrote, is 1.
    var wait: Int?
    /// How many of these launches are still to come; nil is 1.
    var launchesLeft: Int?
    /// Whether the restore under way tries the element again.
    var isTried: Bool?
    /// Tells the launches that leave the element out since the last try from earlier ones; nil,
    /// which older versions of the library wrote, is no period yet.
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
  ///   - place: The place of the element in which the restore crashed.
  ///   - tree: The state that was restored.
  ///   - count: How many crashes in a row were answered by leaving out elements before.
  ///   - applicationVersion: The version of the app.
  /// - Returns: Whether a part of the state is left to be restored.
  mutating func add(
    _ place: Int, of tree: StoredTree, after count: Int, by applicationVersion: String?
  ) -> Bool {
    let rows = tree.outline.rows
    guard rows.indices.contains(place), count < Self.largestCount else { return false }
    var added = [place]
    if count > 0 {
      // The restore crashed without the left-out elements, too, so the elements above them go.
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

  /// Finds the elements of a state that are left out, and forgets those elements that are gone.
  ///
  /// - Parameters:
  ///   - tree: The state.
  ///   - applicationVersion: The version of the app.
  ///   - mayTry: Whether the restore may try an element again.
  /// - Returns: The periods of the left-out elements, by their places, and the element
  ///   that is tried again.
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
    // An element below another left-out one could not be restored, so it is not tried.
    let tried = ordered.indices.first { index in
      mayTry && elements[index].isDue
        && !isBelow(ordered[index].key, Set(places.keys), in: tree.outline)
    }
    if let tried {
      elements[tried].isTried = true
      // This launch decodes the state that is stored by now, so a new period begins.
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

  /// Whether the restore under way tries an element again.
  var isTrial: Bool { elements.contains { $0.isTried == true } }

  /// Notes that the element that was tried has crashed again.
  mutating func failTrial() {
    change { if $0.isTried == true { $0.failTrial() } }
  }

  /// Notes the end of a launch that has restored: the element that it tried is restored again,
  /// unless it has crashed after the restore.
  mutating func endLaunch(_ hasCrashed: (ElementKind, RestorationPath) -> Bool) {
    elements.removeAll { $0.isTried == true && !hasCrashed($0.kind, $0.path) }
    change { element in
      if element.isTried == true {
        element.failTrial()
      } else {
        element.launchesLeft = max(0, (element.launchesLeft ?? 1) - 1)
      }
    }
    if elements.isEmpty { self = SkippedElements() }
  }

  /// Lets the next restores try all elements again, one at a time.
  mutating func retry() { change { $0.launchesLeft = 0 } }

  private mutating func change(_ body: (inout Element) -> Void) {
    for index in elements.indices { body(&elements[index]) }
  }

  /// The paths of the elements.
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
