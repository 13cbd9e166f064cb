internal import ArchiveCodec

/// The application's own values in a restore, and the delegate that is given them.
final class RestoredApplication {
  private let delegate: (any StateDelegate)?
  private let coder: StateDecoder

  init(_ delegate: (any StateDelegate)?, coder: StateDecoder) {
    (self.delegate, self.coder) = (delegate, coder)
  }

  /// Asks the delegate whether anything is restored.
  func letsRestore() -> Bool {
    guard let delegate else { return true }
    return delegate.shouldRestoreApplicationState(with: coder)
  }

  /// Lets the delegate decode the values.
  ///
  /// - Returns: A note on why the delegate failed; nil if it did not.
  func decode() -> ReportNote? {
    guard let delegate else { return nil }
    do {
      try delegate.didDecodeRestorableState(with: coder)
      return nil
    } catch {
      return .didDecodeFailed(error.reason)
    }
  }

  /// A note on the keys that the delegate did not ask for.
  var unreadNote: ReportNote? { delegate == nil ? nil : coder.unreadNote }
}
