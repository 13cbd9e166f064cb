internal import ArchiveCodec

/// What happens when another instance of the app has the state already.
public enum InstancePolicy: Hashable, Sendable {
  /// The later instance has a state of its own, with the first free number: `main~2`,
  /// `main~3` and so on.
  ///
  /// So two terminals of one app both have their state back, in the order in which they
  /// are launched. A user who later runs one instance does not see what was done in a second
  /// one: tell users with ``RestorationReport/otherInstances``. A second keeper of the name in the
  /// same process is treated alike.
  case numbered

  /// While another instance has the state, this one restores nothing and saves nothing,
  /// and its reports name the other instance.
  ///
  /// Use the policy for apps that run as one instance. A restore or save waits up to a
  /// second for an instance that is about to end. When the other instance has ended,
  /// the next save takes the state, and keeps the stored one, which this instance has not
  /// read, in the history: quit, or restore again before you save.
  case single
}

extension InstancePolicy {
  /// More instances than anybody runs; beyond that all states count as in use.
  package static let largestNumber = 1000

  /// All names that an instance tries, the first one first; who has a name is who has its lock.
  ///
  /// - Parameters:
  ///   - name: The name that was asked for.
  ///   - last: The name that the instance had last: an instance never goes on under the name of
  ///     another one, as long as its own is free.
  /// - Returns: The names, each made when it is asked for.
  package func names(_ name: String, last: String?) -> some Sequence<String> {
    (0...(self == .numbered ? Self.largestNumber : 1)).lazy.compactMap { number in
      switch number {
      case 0: self == .numbered ? last : nil
      case 1: name
      default: "\(name)~\(number)"
      }
    }
  }
}

/// An instance of the app that has a state, in this process or in another one.
public struct OtherInstance: Hashable, Sendable {
  /// The name of the state that the instance has.
  public let stateName: String

  /// The process of the instance, for a person to read, as in `process 4711, Catalog`;
  /// nil if it is not known.
  public let process: String?
}

extension OtherInstance: CustomStringConvertible {
  /// The instance and the name of its state.
  public var description: String { "\(process ?? "another instance") has \(stateName)" }
}

extension [OtherInstance] {
  /// Tells a person where data that is missing in this state may be; empty without
  /// other instances.
  func sentence(_ stateName: String?) -> String {
    guard let stateName, !isEmpty else { return "" }
    return " The state is \(stateName), since \(map(\.description).joined(separator: ", "))."
  }

  /// Says that the user sees the state of another process, since nothing else explains an app that looks empty.
  func say(_ stateName: String?) {
    guard let stateName, allSatisfy({ $0.process != ArchiveError.thisProcess }) else { return }
    Problems.say([
      "Another instance of the app runs: \(map(\.description).joined(separator: ", ")). So this one has"
        + " the state \(stateName), and does not show what the other one saves. End the other one, and"
        + " launch again, to see its state."
    ])
  }
}
