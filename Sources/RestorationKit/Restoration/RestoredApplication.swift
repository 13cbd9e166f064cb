internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The application's own values in a restore, and the delegate that is given them.
final class RestoredApplication {
  private let tree: StoredTree
  private let delegate: (any StateDelegate)?
  /// The time by which values end.
  private let clock: Date
  private let makeCoder: (KeyedDecoder?) -> StateDecoder

  init(
    _ tree: StoredTree, _ delegate: (any StateDelegate)?, clock: Date,
    coder: @escaping (KeyedDecoder?) -> StateDecoder
  ) {
    (self.tree, self.delegate, self.clock) = (tree, delegate, clock)
    makeCoder = coder
  }

  /// The values, and which of the values with a sensitivity were found.
  private lazy var values: (state: KeyedDecoder?, opened: OpenedValues?) = open()

  private lazy var coder = makeCoder(values.state)

  /// The values with a sensitivity that were found; nil if there are none.
  var opened: OpenedValues? { values.opened }

  private func open() -> (KeyedDecoder?, OpenedValues?) {
    guard let values = tree.application.values.sensitive,
      let stored = tree.application.values.state
    else {
      return (tree.application.values.state, nil)
    }
    let state = MigratingState(stored)
    var opened = state.put(values, at: clock, tree.secrets)
    do {
      opened.aged = try state.agedValues()
      return (try state.finish(), opened)
    } catch {
      // The state is read without its sensitive values, as if there were none.
      opened.unreadable.append(NodeRecord.sensitiveKey)
      opened.aged = []
      return (stored, opened)
    }
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

  /// Notes on the keys that the delegate did not ask for, and on the values with a sensitivity.
  var notes: [ReportNote] {
    [delegate == nil ? nil : coder.unreadNote].compactMap(\.self) + (opened?.notes ?? [])
  }
}
