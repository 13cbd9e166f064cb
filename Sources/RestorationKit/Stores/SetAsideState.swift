public import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A state that was set aside and can be put back.
///
/// It comes from ``StateKeeper/setAsideStates()`` or ``StateKeeper/generations()``.
public struct SetAsideState: Hashable, Sendable, Identifiable {
  /// Tells it from others of the same state.
  public let id: String

  /// Why it was set aside; nil if an earlier version of the library did it.
  ///
  /// Its cases belong to `ArchiveCodec`, which a file that names them imports.
  public let reason: SetAsideReason?

  /// When it was set aside.
  public let date: Date

  /// Where it is, for a person to read.
  public let location: String

  /// The name of the state that it is of.
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
  /// Where it is, and why it was set aside.
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
/// It is applied when a state is set aside, to the states of its name that were set aside
/// before.
public struct SetAsideBound: Hashable, Sendable {
  /// How many of the oldest stay, whatever their age.
  public var oldestCount: Int

  /// How many of the newest stay, whatever their age.
  public var newestCount: Int

  /// The age in seconds under which all stay.
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

  /// What goes of those that were set aside.
  func excess(of archives: [SetAsideArchive], at date: Date) -> [SetAsideArchive] {
    archives.sorted { $0.date < $1.date }
      .dropFirst(max(0, oldestCount)).dropLast(max(0, newestCount))
      .filter { date.timeIntervalSince($0.date) >= age }
  }
}

/// When something is set aside, and what may go for it.
package struct SettingAside: Sendable {
  let bound: SetAsideBound
  let generations: GenerationBound
  let date: Date
  /// Tells what the app could not decode of the state that is replaced; empty if there is nothing,
  /// or if it was set aside before.
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
