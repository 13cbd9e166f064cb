/// One call that the library made to the app, for tests and people who look.
public struct RestorationTrace: Hashable, Codable, Sendable {
  /// What was called; named as in the app.
  public enum Call: String, Hashable, Codable, Sendable {
    case shouldSaveApplicationState, willEncodeRestorableState, encodeRestorableState
    case shouldRestoreApplicationState
    /// The delegate's rename hook.
    case currentClassName
    /// A restoration class, or a closure that stands for one.
    case restorationClass
    /// The delegate's `node(at:coder:)`.
    case delegate
    case storyboard
    case loadViewIfNeeded, decodeRestorableState, layOutRestoredInterface
    case restoreStateAfterLayout, didDecodeRestorableState, applicationFinishedRestoringState
  }

  /// What was called.
  public let call: Call

  /// On what; empty for the delegate.
  public let path: RestorationPath
}

extension RestorationTrace: CustomStringConvertible {
  /// The call, and the path if there is one.
  public var description: String {
    path.count == 0 ? call.rawValue : "\(call.rawValue) \(path)"
  }
}
