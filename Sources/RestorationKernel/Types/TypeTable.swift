/// The types of an app: their names in archives, their abilities, what makes their objects, and the
/// storyboards.
///
/// All states of an app share one table.
final class TypeTable {
  /// Makes or finds the object of a path; nil is a veto.
  ///
  /// A struct, since an optional closure is wrapped wherever it is passed on (benchmark: restore nodes).
  struct Factory {
    let make: (RestorationPath, StateDecoder) throws -> (any StateRestoring)?
  }

  /// The facts that an app registered about a type.
  struct Registration {
    let name: String
    let type: Any.Type
    let version: StateVersion
    /// Makes the objects that are saved under the name; nil if only the name is known.
    let factory: Factory?
    /// Whether saves name the registration for objects that name no restoration class.
    let isNamedBySaves: Bool
  }

  /// The registrations by names and aliases.
  private(set) var registrations: [String: Registration] = [:]
  private(set) var storyboards: [String: Storyboard] = [:]
  // Asked for every object, and changed by calls on the actor of the app alone, so the check whether both
  // happen at once would take longer than the answer (benchmark: save 10,000 nodes).
  @safe @exclusivity(unchecked) private var known = (
    infos: [TypeInfo](), numbers: KeyTable(), changeCount: 0
  )

  /// Counts the registrations.
  var changeCount: Int { known.changeCount }

  // MARK: Registering

  func register(
    _ type: Any.Type, as name: String?, aliases: [String], version: Int,
    migrations: [StateMigration], factory: Factory?, isNamedBySaves: Bool = false
  ) throws(RestorationError) {
    let name = name ?? String(nameOf: type)
    let registration = Registration(
      name: name, type: type, version: try StateVersion(version, migrations, className: name),
      factory: factory, isNamedBySaves: isNamedBySaves)
    for taken in [name] + aliases {
      if let other = registrations[taken], other.type != type {
        throw RestorationError(
          .nameTaken,
          "The name “\(taken)” is registered for another type."
            + " Register one of them with register(_:as:) under another name.")
      }
    }
    for entry in [name] + aliases { registrations[entry] = registration }
    names[ObjectIdentifier(type)] = name
    // The registration may change answers that were given before.
    known = ([], KeyTable(), changeCount + 1)
  }

  /// The names in archives; of types that were registered twice, the last.
  private var names: [ObjectIdentifier: String] = [:]

  // MARK: Asking

  /// The description of an object's type, made once for each type.
  func info(of object: any StateRestoring) -> TypeInfo {
    let type = type(of: object)
    let key = UInt64(identifierOf: ObjectIdentifier(type))
    if let number = known.numbers[key] { return known.infos[Int(number)] }
    let name = name(of: type)
    let info = TypeInfo(type, name, TypeTraits(of: object), registration: registrations[name])
    if info.tracking == .always { knowsUntracked = true }
    known.numbers.set(key, Int32(known.infos.count))
    known.infos.append(info)
    return info
  }

  /// Whether an object was met that does not say when it changes.
  private(set) var knowsUntracked = false

  func name(of type: Any.Type) -> String { names[ObjectIdentifier(type)] ?? String(nameOf: type) }

  /// The name of an object's class; nil if that is the class that an archive names, or a subclass.
  func otherClass(
    of object: any StateRestoring, _ info: TypeInfo, than saved: String
  ) -> String? {
    // Most objects have the very class (benchmark: restore nodes).
    if info.name == saved { return nil }
    let current = registrations[saved]?.name ?? saved
    let classes = sequence(first: type(of: object) as AnyClass, next: _getSuperclass)
    return classes.contains { name(of: $0) == current } ? nil : info.name
  }

  /// The version of an object's state: the version of its class, or that of its restoration class
  /// if the class is not registered.
  func version(ofClass name: String, restoredBy restorationClass: String?) -> StateVersion {
    (registrations[name] ?? restorationClass.flatMap { registrations[$0] })?.version ?? .first
  }

  // MARK: Storyboards

  func register(_ storyboard: Storyboard) throws(RestorationError) {
    if let other = storyboards[storyboard.name], other !== storyboard {
      throw RestorationError(
        .nameTaken, "The name “\(storyboard.name)” is registered for another storyboard.")
    }
    storyboards[storyboard.name] = storyboard
    known.changeCount += 1
  }

  func storyboard(of node: any RestorableNode) -> StoryboardReference? {
    storyboards.lazy.compactMap { name, storyboard in
      storyboard.made[node].map { StoryboardReference(name: name, identifier: $0) }
    }.first
  }
}

/// The description of one type.
final class TypeInfo {
  let type: any StateRestoring.Type
  /// The name in archives.
  let name: String
  let traits: TypeTraits
  let tracking: StateTracking
  /// The registration of the type's name; nil if the name is not registered.
  let registration: TypeTable.Registration?
  /// Whether nodes of the type declare no identifier, so that they have the name of the class.
  let isNamedByClass: Bool
  /// The form of the object that was met last, by the restoration class that it names; see ``ObjectTable``.
  @safe @exclusivity(unchecked) var form: (age: Int, named: ObjectIdentifier?, number: Int32)?
  /// What asks an object of the type as a node; nil if objects of the type are no nodes.
  private let asNode: NodeCalls?

  private struct NodeCalls {
    let cast: (AnyObject) -> any RestorableNode
    let restorationClass: (AnyObject) -> (any NodeRestoration.Type)?

    init<Node: RestorableNode>(_ type: Node.Type) {
      cast = { unsafe unsafeDowncast($0, to: Node.self) }
      restorationClass = { unsafe unsafeDowncast($0, to: Node.self).restorationClass }
    }
  }

  init(
    _ type: any StateRestoring.Type, _ name: String, _ traits: TypeTraits,
    registration: TypeTable.Registration?
  ) {
    (self.type, self.name, self.traits, tracking) = (type, name, traits, type.stateTracking)
    self.registration = registration
    let node = type.nodeType
    asNode = node.map { NodeCalls($0) }
    isNamedByClass = node?.isNamedByClass ?? false
  }

  /// An object of exactly this type as a node; nil if it is none.
  ///
  /// To ask the object itself for the conformance takes longer than to make the object (benchmark:
  /// restore nodes).
  func node(_ object: any StateRestoring) -> (any RestorableNode)? {
    precondition(type == Swift.type(of: object), "the object of another type")
    return asNode?.cast(object)
  }

  /// The restoration class that an object of exactly this type names.
  func restorationClass(of object: any StateRestoring) -> Any.Type? {
    precondition(type == Swift.type(of: object), "the object of another type")
    guard let asNode else { return (object as? any RestorableObject)?.objectRestorationClass }
    return asNode.restorationClass(object)
  }
}

extension String {
  /// The name of a type, as `String(describing:)` says it.
  ///
  /// That first asks whether the metatype can describe itself, for which the Swift runtime goes through all
  /// conformances of the program, several times for each type.
  package init(nameOf type: Any.Type) { self = _typeName(type, qualified: false) }
}

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
