package import RestorationKit

extension NavigationStack: @MainActor RestorableNode {
  private static let identifiersKey = "identifiers"

  package var restorationIdentifier: String? { "navigation" }

  package var restorationChildren: [any RestorableNode] { screens }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(screens.compactMap(\.restorationIdentifier), forKey: Self.identifiersKey)
  }

  /// Puts the screens back that were on the root, up to the first that is not back.
  ///
  /// What stood on a missing screen may make no sense without it.
  package func decodeRestorableState(with coder: StateDecoder) throws {
    let identifiers = try coder.decode([String].self, forKey: Self.identifiersKey)
    let restored = coder.restoredChildren.compactMap { $0 as? any Screen }
    let unbroken = zip(identifiers, restored).prefix { $0 == $1.restorationIdentifier }
    replacePushed(with: unbroken.dropFirst().map(\.1))
  }
}
