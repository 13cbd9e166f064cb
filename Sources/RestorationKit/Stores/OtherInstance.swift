internal import ArchiveCodec

/// An instance of the app that has a state, in this process or in another one.
package struct OtherInstance: Hashable, Sendable {
  /// The name of the state that the instance has.
  package let stateName: String

  /// The process of the instance, for a person to read, as in `process 4711, Catalog`;
  /// nil if it is not known.
  package let process: String?
}

extension OtherInstance: CustomStringConvertible {
  /// The instance and the name of its state.
  package var description: String { "\(process ?? "another instance") has \(stateName)" }
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
