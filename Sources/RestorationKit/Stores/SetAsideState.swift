public import ArchiveCodec
public import RestorationFoundation

/// A state that was set aside and can be put back.
///
/// ``StateKeeper/setAsideStates()`` and ``StateKeeper/generations()`` list these states.
public struct SetAsideState: Hashable, Sendable, Identifiable {
  /// A text that no other set-aside state of the same name has.
  public let id: String

  /// Why the state was set aside; nil if an earlier version of the library did it.
  ///
  /// The cases belong to `ArchiveCodec`, which a file that names them imports.
  public let reason: SetAsideReason?

  /// When the state was set aside.
  public let date: Date

  /// Where the set-aside state is, for a person to read.
  public let location: String

  /// The name of the state that was set aside.
  let stateName: String

  init(_ archive: SetAsideArchive, ofState name: String) {
    stateName = name
    id = archive.identifier
    reason = archive.reason
    date = archive.date
    location = archive.storage.location
  }
}

extension SetAsideState: CustomStringConvertible {
  /// Where the set-aside state is, and why it was set aside.
  public var description: String {
    let why =
      switch reason {
      case .crashed: "restoring it crashed"
      case .unread: "nobody had read it"
      case .unreadable: "it could not be read"
      case .undecoded: "the app could not decode all of it"
      case .replaced: "another one was put back"
      case .conflict: "another machine had changed it as well"
      case .previous: "a newer one took its place"
      case .upgraded: "another version of the app saved one in its place"
      case nil: "it was in the way"
      }
    return "\(location), set aside since \(why)"
  }
}

/// How many states that were set aside stay, and for how long.
///
/// The bound is applied when a state is set aside, to the states of its name that were
/// set aside before.
public struct SetAsideBound: Hashable, Sendable {
  /// How many of the oldest set-aside states stay, whatever their age.
  public var oldestCount: Int

  /// How many of the newest set-aside states stay, whatever their age.
  public var newestCount: Int

  /// The age in seconds under which all set-aside states stay.
  ///
  /// A state with a date in the future, by a clock that was set back, is young.
  public var age: TimeInterval

  /// Creates a bound; by default the oldest and the two newest stay, and all of
  /// the last 30 days.
  ///
  /// - Parameters:
  ///   - oldestCount: How many of the oldest stay; less than 0 is as 0.
  ///   - newestCount: How many of the newest stay; less than 0 is as 0.
  ///   - age: The age in seconds under which all stay.
  public init(oldestCount: Int = 1, newestCount: Int = 2, age: TimeInterval = 30 * 24 * 3600) {
    self.oldestCount = oldestCount
    self.newestCount = newestCount
    self.age = age
  }

  /// The archives that the bound removes.
  package func excess(of archives: [SetAsideArchive], at date: Date) -> [SetAsideArchive] {
    archives.sorted { $0.date < $1.date }
      .dropFirst(max(0, oldestCount)).dropLast(max(0, newestCount))
      .filter { date.timeIntervalSince($0.date) >= age }
  }
}

/// The bounds and the date for an archive that a save sets aside.
package struct SettingAside: Sendable {
  package let bound: SetAsideBound
  let generations: GenerationBound
  package let date: Date
  /// The records of the replaced state that the app could not decode.
  ///
  /// Empty if there are none, or if the state was set aside for them before.
  var undecoded: Set<RecordFingerprint> = []

  package init(
    bound: SetAsideBound = SetAsideBound(), generations: GenerationBound = GenerationBound(),
    date: Date = Date()
  ) {
    self.bound = bound
    self.generations = generations
    self.date = date
  }
}
