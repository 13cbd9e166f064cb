/// An element or a value that a launch makes or decodes.
package struct LaunchSubject: Hashable, Codable, Sendable {
  package let number: UInt64

  package init(number: UInt64) { self.number = number }

  /// Names an element of the state by its identifier.
  package init(element id: UInt64) { number = id &+ 1 }

  /// Names a value by the tag of its key.
  package init(valueTag tag: UInt32) { number = Self.valueMark | UInt64(tag) }

  private static let valueMark: UInt64 = 1 << 63

  /// The identifier of the element; nil for a value.
  package var element: UInt64? { number & Self.valueMark == 0 ? number &- 1 : nil }
}

/// What has to be known of a tree to leave out a part of it.
package protocol LaunchedTree {
  /// Whether the element is in the tree.
  func contains(element id: UInt64) -> Bool

  /// The element above an element; nil for a root, and for one that is not there.
  func element(above id: UInt64) -> UInt64?
}

/// What restores leave out since they crashed in it.
///
/// An element is left out whatever state it has by now, as long as the version of the app runs that
/// crashed: another version may have mended the crash. One at a time is tried again, after 1, 2, 4,
/// 8 and more launches that left it out; each new crash doubles the wait.
package struct LeftOut: Codable, Sendable {
  private struct Entry: Codable {
    let subject: LaunchSubject
    /// How many launches leave it out before it is tried again.
    var wait = 1
    /// How many of these launches are still to come.
    var launchesLeft = 1
    /// Whether the restore under way tries it again.
    var isTried = false

    mutating func failTrial() {
      wait = min(max(1, wait), LeftOut.longestWait / 2) * 2
      (launchesLeft, isTried) = (wait, false)
    }
  }

  private var entries: [Entry] = []
  /// The version of the app that crashed.
  private(set) var applicationVersion: String?

  /// An app that is started so often has crashed 20 times in one element.
  private static let longestWait = 1 << 20
  /// As many as the record of a launch has room for, and more than any app leaves out.
  private static let largestCount = 64

  package init() {}

  /// All that is left out, with what is tried again.
  package var subjects: [LaunchSubject] { entries.map(\.subject) }

  /// Whether the restore under way tries something again.
  var isTrial: Bool { entries.contains { $0.isTried } }

  package mutating func add(_ subjects: [LaunchSubject], by version: String?) {
    applicationVersion = version
    for subject in subjects where !entries.contains(where: { $0.subject == subject }) {
      entries.append(Entry(subject: subject))
    }
    entries.removeFirst(max(0, entries.count - Self.largestCount))
  }

  /// Leaves out more after another crash; false if nothing but the whole state is left.
  ///
  /// - Parameters:
  ///   - action: The decision of the launch.
  ///   - tree: The state that crashed.
  ///   - version: The version of the app.
  /// - Returns: Whether a part of the state is left to be restored.
  mutating func add(
    _ action: LaunchVerdict.Action, in tree: some LaunchedTree, by version: String?
  ) -> Bool {
    switch action {
    case .restore: break
    case .giveWay: return false
    case .leaveOut(let subject, let withThoseAbove):
      guard subject.element.map(tree.contains) ?? true else { return false }
      var added = [subject]
      if withThoseAbove {
        // The restore crashed without what was left out, too, so what is above it goes.
        for id in entries.compactMap(\.subject.element) where tree.contains(element: id) {
          guard let above = tree.element(above: id) else { return false }
          added.append(LaunchSubject(element: above))
        }
        if added.count == 1, subject.element != nil { return false }
      }
      add(added, by: version)
    }
    return true
  }

  /// Forgets what is gone, and chooses what the restore tries again.
  ///
  /// - Parameters:
  ///   - tree: The state.
  ///   - version: The version of the app.
  ///   - mayTry: Whether the restore may try something again.
  /// - Returns: What is tried; nil if nothing is.
  package mutating func begin(
    in tree: some LaunchedTree, by version: String?, mayTry: Bool
  ) -> LaunchSubject? {
    if applicationVersion != version { self = LeftOut() }
    entries.removeAll { $0.subject.element.map { !tree.contains(element: $0) } ?? false }
    for place in entries.indices { entries[place].isTried = false }
    let all = Set(subjects)
    // What is below another one could not be restored, so it is not tried.
    guard mayTry,
      let due = entries.firstIndex(where: {
        $0.launchesLeft <= 0 && !Self.isBelow($0.subject, all, in: tree)
      })
    else { return nil }
    entries[due].isTried = true
    return entries[due].subject
  }

  private static func isBelow(
    _ subject: LaunchSubject, _ others: Set<LaunchSubject>, in tree: some LaunchedTree
  ) -> Bool {
    guard let id = subject.element else { return false }
    return sequence(first: id, next: tree.element(above:)).dropFirst().contains {
      others.contains(LaunchSubject(element: $0))
    }
  }

  /// Notes that what was tried has crashed again.
  mutating func failTrial() {
    for place in entries.indices where entries[place].isTried { entries[place].failTrial() }
  }

  /// Notes the end of a launch that has restored: what it tried is restored again, unless it has
  /// crashed after the restore.
  mutating func endLaunch(crashedIn subject: LaunchSubject?) {
    entries.removeAll { $0.isTried && $0.subject != subject }
    for place in entries.indices where !entries[place].isTried {
      entries[place].launchesLeft = max(1, entries[place].launchesLeft) - 1
    }
    failTrial()
  }

  /// Lets the next restores try everything again, one at a time.
  package mutating func retry() {
    for place in entries.indices { entries[place].launchesLeft = 0 }
  }
}
