/// The types of an app: their names in archives, their abilities, what makes their objects, and the
/// storyboards.
///
/// All states of an app share one table.
final class TypeTable {
  /// Makes or finds the object of a path; nil is a veto.
  typealias Factory = (RestorationPath, StateDecoder) throws -> (any StateRestoring)?

  /// How the objects that are saved under a name are made.
  struct Making {
    /// Nil if only the name is known.
    let factory: Factory?
    /// Whether saves name the registration for objects that name no restoration class.
    let isNamedBySaves: Bool
    /// Whether the factory makes objects of the registered class, and not of another one.
    let makesItsClass: Bool
  }

  /// The facts that an app registered about a type.
  struct Registration {
    let name: String
    let type: Any.Type
    let making: Making
    let version: StateVersion
  }

  /// The registrations by names and aliases.
  private var registrations: [String: Registration] = [:]

  // The tables are asked for every object, and changed by calls on the actor of the app alone, so
  // the check whether both happen at once would take longer than the answer.
  /// The names that classes had before they got theirs.
  @safe @exclusivity(unchecked) private(set) var formerNames: [String: [String]] = [:]
  @safe @exclusivity(unchecked) private var storyboards: [String: Storyboard] = [:]
  @safe @exclusivity(unchecked) private var infos: [TypeInfo] = []
  @safe @exclusivity(unchecked) private var numbers = AddressTable()

  /// Counts the registrations.
  @safe @exclusivity(unchecked) private(set) var changeCount = 0

  // MARK: Registering

  func register(
    _ type: Any.Type, as name: String?, aliases: [String], version: Int,
    migrations: [StateMigration], _ making: Making
  ) throws(RestorationError) {
    let name = name ?? String(nameOf: type)
    let version = try StateVersion(version, migrations, className: name)
    for taken in [name] + aliases {
      if let other = registrations[taken], other.type != type {
        throw RestorationError(
          .nameTaken,
          "The name “\(taken)” is registered for another type."
            + " Register one of them with register(_:as:) under another name.")
      }
    }
    for entry in [name] + aliases {
      registrations[entry] = Registration(
        name: name, type: type, making: making, version: version)
    }
    if !aliases.isEmpty { formerNames[name] = aliases }
    setName(name, of: type)
    // The registration may change answers that were given before.
    (infos, numbers) = ([], AddressTable())
    changeCount += 1
  }

  /// The names in archives; of types that were registered twice, the last.
  private var names: [String] = []
  private var nameNumbers = AddressTable()

  private func setName(_ name: String, of type: Any.Type) {
    nameNumbers.set(names.count, for: ObjectIdentifier(type))
    names.append(name)
  }

  // MARK: Asking

  /// The description of an object's type, made once for each type.
  func info(of object: any StateRestoring) -> TypeInfo {
    let type = type(of: object)
    if let number = numbers[ObjectIdentifier(type)] { return infos[number] }
    return add(
      TypeInfo(type, name(of: type), TypeTraits(of: object), type.stateTracking, in: self))
  }

  /// Whether an object was met that says when it changes, and one that does not.
  private(set) var (knowsTracked, knowsUntracked) = (false, false)

  private func add(_ info: TypeInfo) -> TypeInfo {
    if info.tracking == .always { knowsUntracked = true } else { knowsTracked = true }
    numbers.set(infos.count, for: ObjectIdentifier(info.type))
    infos.append(info)
    return info
  }

  func traits(of object: any StateRestoring) -> TypeTraits { info(of: object).traits }

  func className(of object: any StateRestoring) -> String { info(of: object).name }

  func name(of type: Any.Type) -> String {
    if let number = nameNumbers[ObjectIdentifier(type)] { return names[number] }
    let name = String(nameOf: type)
    setName(name, of: type)
    return name
  }

  func registration(named name: String) -> Registration? { registrations[name] }

  func isRegistered(_ name: String) -> Bool { registrations[name] != nil }

  /// Whether an object is of the class that an archive names, or of a subclass.
  func isObject(_ object: any StateRestoring, ofClassNamed saved: String) -> Bool {
    let info = info(of: object)
    if info.name == saved, info.registered.map({ $0.name == saved }) ?? true { return true }
    let current = registrations[saved]?.name ?? saved
    if info.name == current { return true }
    var next: AnyClass? = _getSuperclass(type(of: object))
    while let superclass = next {
      if name(of: superclass) == current { return true }
      next = _getSuperclass(superclass)
    }
    return false
  }

  /// The version of an object's state: the version of its class, or that of its restoration class
  /// if the class is not registered.
  func version(ofClass name: String, restoredBy restorationClass: String?) -> StateVersion {
    (registrations[name] ?? restorationClass.flatMap { registrations[$0] })?.version ?? .first
  }

  // MARK: Restoration classes

  /// Whether nodes of the class need no restoration class, since a closure or the
  /// class itself makes them.
  func makesItsObjects(_ className: String) -> Bool {
    guard let making = registrations[className]?.making else { return false }
    return making.factory != nil && making.makesItsClass
  }

  /// Whether a closure makes the objects of a class, and is registered under this name.
  func isMadeByClosure(_ className: String, registeredAs name: String) -> Bool {
    guard let registration = registrations[name] else { return false }
    return registration.making.isNamedBySaves && registrations[className]?.type == registration.type
  }

  enum ResolvedClass {
    case found(Factory)
    case notAFactory
    case unknown
  }

  /// The restoration class that an archive names.
  func restorationClass(named name: String) -> ResolvedClass {
    guard let registration = registrations[name] else { return .unknown }
    return registration.making.factory.map(ResolvedClass.found) ?? .notAFactory
  }

  // MARK: Storyboards

  func register(_ storyboard: Storyboard) throws(RestorationError) {
    if let other = storyboards[storyboard.name], other !== storyboard {
      throw RestorationError(
        .nameTaken, "The name “\(storyboard.name)” is registered for another storyboard.")
    }
    storyboards[storyboard.name] = storyboard
    changeCount += 1
  }

  var hasStoryboards: Bool { !storyboards.isEmpty }

  func storyboard(named name: String) -> Storyboard? { storyboards[name] }

  func storyboard(of node: any RestorableNode) -> StoryboardReference? {
    for (name, storyboard) in storyboards {
      if let identifier = storyboard.made[node] {
        return StoryboardReference(name: name, identifier: identifier)
      }
    }
    return nil
  }
}

/// The description of one type.
///
/// Reports hold a description for as long as somebody keeps them, so a description holds nothing of
/// the app: no closure that makes objects or migrates states.
final class TypeInfo {
  /// The registration of a name.
  struct Registered {
    let name: String
    let version: Int
    let hasFactory: Bool
    let isNamedBySaves: Bool
  }

  let type: Any.Type
  /// The name in archives.
  let name: String
  let traits: TypeTraits
  let tracking: StateTracking
  /// The registration of the type's name; nil if the name is not registered.
  let registered: Registered?
  /// Whether nodes of the type declare no identifier, so that they have the name of the class.
  let isNamedByClass: Bool
  /// Casts an object of the type to a node; nil if objects of the type are no nodes.
  private let cast: ((AnyObject) -> any RestorableNode)?

  init(
    _ type: any StateRestoring.Type, _ name: String, _ traits: TypeTraits,
    _ tracking: StateTracking, in types: TypeTable
  ) {
    self.type = type
    self.name = name
    self.traits = traits
    self.tracking = tracking
    let node = type.nodeType
    cast = node.map { Self.cast(to: $0) }
    isNamedByClass = node?.isNamedByClass ?? false
    registered = types.registration(named: name).map {
      Registered(
        name: $0.name, version: $0.version.number, hasFactory: $0.making.factory != nil,
        isNamedBySaves: $0.making.isNamedBySaves)
    }
  }

  /// An object of exactly this type as a node; nil if it is none.
  ///
  /// To ask the object itself for the conformance takes longer than to make the object (benchmark:
  /// restore nodes).
  func node(_ object: any StateRestoring) -> (any RestorableNode)? {
    precondition(type == Swift.type(of: object), "the object of another type")
    return cast?(object)
  }

  private static func cast<Node: RestorableNode>(
    to type: Node.Type
  ) -> (AnyObject) -> any RestorableNode {
    { unsafe unsafeDowncast($0, to: Node.self) }
  }
}
