/// Something about a save that the developer should mend.
public enum PreservationProblem: Hashable, Codable, Sendable {
  /// The node's encoding threw; the error is given in its own words.
  case encodeFailed(String)

  /// The delegate's `willEncodeRestorableState` threw.
  case willEncodeFailed(String)

  /// Two siblings have the same identifier.
  case duplicateIdentifier(String)

  /// A root has no identifier, so nothing of it is saved.
  case rootWithoutIdentifier

  /// The same node is in the tree twice.
  case containedTwice

  /// The identifier is longer than the format's keys, so the node is left out.
  case identifierTooLong(byteCount: Int)

  /// A reference names a node or view that has no identifier, or an object that
  /// was not registered.
  case referenceWithoutIdentifier(key: String, className: String)

  /// A reference names a view of no node that is preserved.
  case referenceToUnpreservedView(key: String)

  /// A coder was used after the call that it was made for.
  case coderKept(key: String)

  /// A coder of the node with this path was used after the save before this one.
  case coderKeptAfterSave(RestorationPath, key: String)

  /// The save came before any restore, so it has set aside what was stored.
  case notRestoredBefore

  /// It lies in a stack above a node that is not preserved, so the stack will
  /// close over that one.
  case aboveGap(RestorationPath)

  /// The restoration class is not registered, so it will not be found.
  case restorationClassNotRegistered(String)
}

extension PreservationProblem: CustomStringConvertible {
  /// What is wrong and how to mend it.
  public var description: String {
    switch self {
    case .encodeFailed(let error):
      "Encoding threw, so the node has no new state: \(error)"
    case .willEncodeFailed(let error):
      "willEncodeRestorableState threw, so what it encoded is missing: \(error)"
    case .duplicateIdentifier(let identifier):
      "Two siblings have the identifier “\(identifier)”. Give each its own."
    case .rootWithoutIdentifier:
      "It is a root without restoration identifier, so nothing of it is saved. Give it one, or an"
        + " empty one if that is meant."
    case .containedTwice:
      "It is in the tree twice. Let one node contain it and others refer to it."
    case .identifierTooLong(let byteCount):
      "The identifier has \(byteCount) bytes. Use up to \(NodeRecord.longestIdentifier)."
    case .referenceWithoutIdentifier(let key, let className):
      "The key “\(key)” refers to a \(className) without restoration identifier."
        + " Give it one, or register it with keeper.registerObject."
    case .referenceToUnpreservedView(let key):
      "The key “\(key)” refers to a view of no node that is preserved. Let a node have it among"
        + " its restorationViews."
    case .coderKept(let key):
      "The key “\(key)” was encoded after the call had ended. Do not keep coders."
    case .coderKeptAfterSave(let path, let key):
      "After the last save the key “\(key)” was encoded with a coder of"
        + " \(path.count == 0 ? "the application" : "“\(path)”"), which did nothing. Do not keep coders."
    case .notRestoredBefore:
      "The save came before any restore, so what was stored is set aside. Call restore(into:) at"
        + " launch, before the first save."
    case .aboveGap(let path):
      "It lies on “\(path)”, which is not preserved, so it will lie on what is below that. Give"
        + " that node an identifier of its own."
    case .restorationClassNotRegistered(let name):
      "The restoration class \(name) is not registered."
        + " Call keeper.register(restorationClass: \(name).self)."
    }
  }
}
