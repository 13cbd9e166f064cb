/// The conformances of one type for which the library does something.
///
/// Asking an object for its conformances takes longer than writing its state, so one object of each
/// type is asked.
struct TypeTraits: OptionSet, Sendable {
  let rawValue: UInt8

  static let stack = TypeTraits(rawValue: 1 << 0)
  static let split = TypeTraits(rawValue: 1 << 1)
  static let tabs = TypeTraits(rawValue: 1 << 2)
  static let presenter = TypeTraits(rawValue: 1 << 3)
  /// The library writes something of its own for the objects.
  static let hasBuiltInState = TypeTraits(rawValue: 1 << 4)
  static let stateful = TypeTraits(rawValue: 1 << 5)

  /// Whether children of such containers may have equal identifiers.
  var tellEqualChildrenApart: Bool { !isDisjoint(with: [.stack, .split]) }

  /// Objects with these traits are given the nodes that they contained.
  static let takesContent: TypeTraits = [.stack, .split, .presenter, .tabs]
}

extension TypeTraits {
  init(of object: any StateRestoring) {
    self = []
    // The first question whether a class conforms to a protocol lets the Swift runtime go through all
    // conformances of the program, of which there are thousands. So a class is asked once whether it has any.
    guard let object = object as? any RestorationAbility else { return }
    if object is any RestorableStack { insert(.stack) }
    if object is any RestorableSplit { insert(.split) }
    if object is any RestorableTabs { insert([.tabs, .hasBuiltInState]) }
    if object is any RestorablePresenter { insert(.presenter) }
    if object is any RestorableList || object is any RestorableScrolling
      || object is any RestorableTextSelection
    {
      insert(.hasBuiltInState)
    }
    if object is any StatefulRestoring { insert(.stateful) }
  }
}

extension RestorableNode {
  /// The class itself.
  @_documentation(visibility: internal)
  public static var restorableNodeType: (any RestorableNode.Type)? { self }

  /// Whether nodes of this type declare no identifier, so that they have the name of the class.
  static var isNamedByClass: Bool { RestorationIdentifier.self == ClassNameIdentifier.self }
}
