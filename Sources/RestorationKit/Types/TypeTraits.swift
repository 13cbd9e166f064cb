/// The conformances of one type for which the library does something.
///
/// Asking an object for its conformances takes longer than writing its state, so one object of each
/// type is asked.
struct TypeTraits: OptionSet, Sendable {
  let rawValue: UInt16

  static let stack = TypeTraits(rawValue: 1 << 0)
  static let split = TypeTraits(rawValue: 1 << 1)
  static let tabs = TypeTraits(rawValue: 1 << 2)
  static let presenter = TypeTraits(rawValue: 1 << 3)
  static let list = TypeTraits(rawValue: 1 << 4)
  static let scrolling = TypeTraits(rawValue: 1 << 5)
  static let textSelection = TypeTraits(rawValue: 1 << 6)
  /// The superclass of the type conforms, too.
  static let inheritsConformance = TypeTraits(rawValue: 1 << 7)

  static let stateful = TypeTraits(rawValue: 1 << 8)
  /// The class stores a property with the name of an identifier, but its conformance declares none.
  static let shadowsIdentifier = TypeTraits(rawValue: 1 << 9)

  /// The fields of an object with ``Restored`` are its state.
  static let screen = TypeTraits(rawValue: 1 << 10)

  /// Children of containers with these traits may have equal identifiers.
  static let tellsEqualChildrenApart: TypeTraits = [.stack, .split]

  /// Objects with these traits are given the nodes that they contained.
  static let takesContent: TypeTraits = [.stack, .split, .presenter, .tabs]

  /// The library writes something of its own for objects with these traits.
  static let hasBuiltInState: TypeTraits = [.tabs, .list, .scrolling, .textSelection]

  init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  init(of object: any StateRestoring) {
    self = []
    // The first question whether a class conforms to a protocol lets the Swift runtime go through all
    // conformances of the program, of which there are thousands. So a class is asked once whether it has any.
    if let object = object as? any RestorationAbility { insertAbilities(of: object) }
    let type = Swift.type(of: object)
    if let superclass = _getSuperclass(type), superclass is any StateRestoring.Type {
      insert(.inheritsConformance)
    }
    if type.nodeType?.isNamedByClass == true, Self.hasStoredIdentifier(type) {
      insert(.shadowsIdentifier)
    }
  }

  private mutating func insertAbilities(of object: any RestorationAbility) {
    if object is any RestorableStack { insert(.stack) }
    if object is any RestorableSplit { insert(.split) }
    if object is any RestorableTabs { insert(.tabs) }
    if object is any RestorablePresenter { insert(.presenter) }
    if object is any RestorableList { insert(.list) }
    if object is any RestorableScrolling { insert(.scrolling) }
    if object is any RestorableTextSelection { insert(.textSelection) }
    if object is any StatefulRestoring { insert(.stateful) }
    if object is any RestorableScreen { insert(.screen) }
  }

  /// Whether objects of a class store an identifier; one that is computed cannot be seen.
  private static func hasStoredIdentifier(_ type: AnyClass) -> Bool {
    var isFound = false
    StoredProperties.forEach(of: type) { name, _, _ in
      if identifierNames.contains(name) { isFound = true }
    }
    return isFound
  }

  /// The names of the property if it is as declared, observed, or lazy.
  private static let identifierNames: Set = [
    "restorationIdentifier", "_restorationIdentifier",
    "$__lazy_storage_$_restorationIdentifier",
  ]
}

extension RestorableNode {
  /// The class itself.
  @_documentation(visibility: internal)
  public static var restorableNodeType: (any RestorableNode.Type)? { self }

  /// Whether nodes of this type declare no identifier, so that they have the name of the class.
  static var isNamedByClass: Bool { RestorationIdentifier.self == ClassNameIdentifier.self }
}
