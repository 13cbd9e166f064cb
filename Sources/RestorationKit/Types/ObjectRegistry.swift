/// What is known of objects besides what they say themselves: the names of
/// types, the storyboards, the identifiers that nodes were restored under, and
/// the objects that were registered.
///
/// The states of one app share the first two, and each has objects of its own
/// and what its last restore could not bring back.
final class ObjectRegistry {
  /// Makes or finds the object of a path; nil is a veto.
  typealias Factory = (RestorationPath, StateDecoder) throws -> (any StateRestoring)?

  /// How what is saved under a name is made.
  struct Making {
    /// Nil if only the name is known.
    let factory: Factory?
    /// Whether saves name it for objects that name no restoration class.
    let isNamedBySaves: Bool
    /// Whether it makes what is of the registered class, and not of another.
    let makesItsClass: Bool
  }

  private struct Registration {
    let name: String
    let type: Any.Type
    let making: Making
    let version: StateVersion
  }

  /// What a restored node keeps, if it says nothing else.
  struct Restored {
    let identifier: String
    let restorationClassName: String?
  }

  private final class Types {
    var registrations: [String: Registration] = [:]
    var names: [ObjectIdentifier: String] = [:]
    var formerNames: [String: [String]] = [:]
    var traits: [ObjectIdentifier: TypeTraits] = [:]
    var storyboards: [String: Storyboard] = [:]
  }

  private let types: Types
  /// Whose objects count where there is none here.
  private let outer: ObjectRegistry?
  private var restored = WeakTable<Restored>()
  private var registered = RegisteredObjects()
  /// What the last restore could not bring back.
  var kept: KeptRecords?
  private var keptCoders = KeptCoders()

  init() {
    types = Types()
    outer = nil
  }

  /// A registry of another state of the same app.
  init(sharing outer: ObjectRegistry) {
    types = outer.types
    self.outer = outer
  }

  func noteKeptCoder(of path: RestorationPath, key: String) { keptCoders.note(path, key) }

  /// Coders that were used after their save, for the next report.
  func takeKeptCoders() -> KeptCoders {
    defer { keptCoders = KeptCoders() }
    return keptCoders
  }

  /// For a save that reported nothing.
  func putBack(_ taken: KeptCoders) {
    let since = keptCoders
    keptCoders = taken
    for (path, key) in since.keys { keptCoders.note(path, key) }
  }

  // MARK: Types

  func register(
    _ type: Any.Type, as name: String?, aliases: [String], version: Int,
    migrations: [StateMigration], _ making: Making
  ) throws(RestorationError) {
    let name = name ?? String(describing: type)
    let version = try StateVersion(version, migrations, className: name)
    for taken in [name] + aliases {
      if let other = types.registrations[taken], other.type != type {
        throw RestorationError(
          .nameTaken,
          "The name “\(taken)” is registered for another type."
            + " Register one of them with register(_:as:) under another name.")
      }
    }
    for entry in [name] + aliases {
      types.registrations[entry] = Registration(
        name: name, type: type, making: making, version: version)
    }
    types.names[ObjectIdentifier(type)] = name
    if !aliases.isEmpty { types.formerNames[name] = aliases }
  }

  /// The names that classes had before they got theirs.
  var formerNames: [String: [String]] { types.formerNames }

  func className(of object: any StateRestoring) -> String {
    name(of: type(of: object))
  }

  func traits(of object: any StateRestoring) -> TypeTraits {
    let type = ObjectIdentifier(type(of: object))
    if let traits = types.traits[type] { return traits }
    let asked = TypeTraits(of: object)
    types.traits[type] = asked
    return asked
  }

  private func name(of type: Any.Type) -> String {
    if let name = types.names[ObjectIdentifier(type)] { return name }
    let name = String(describing: type)
    types.names[ObjectIdentifier(type)] = name
    return name
  }

  /// Whether an object is of the class that an archive names, or of a subclass.
  func isObject(_ object: any StateRestoring, ofClassNamed saved: String) -> Bool {
    let current = types.registrations[saved]?.name ?? saved
    if className(of: object) == current { return true }
    var mirror = Mirror(reflecting: object).superclassMirror
    while let superclass = mirror {
      if name(of: superclass.subjectType) == current { return true }
      mirror = superclass.superclassMirror
    }
    return false
  }

  func isRegistered(_ name: String) -> Bool {
    types.registrations[name] != nil
  }

  /// The version of an object's state: that of its class, or if that is not
  /// registered, that of its restoration class.
  func version(ofClass name: String, restoredBy restorationClass: String?) -> StateVersion {
    (types.registrations[name] ?? restorationClass.flatMap { types.registrations[$0] })?.version
      ?? .first
  }

  // MARK: Restoration classes

  /// The restoration class to save, if the object names one, is made by a
  /// registered closure, or was restored by one.
  func restorationClass(
    of object: any StateRestoring, naming type: Any.Type?
  ) -> (name: String, isRegistered: Bool)? {
    if let type {
      let name = name(of: type)
      return (name, types.registrations[name]?.making.factory != nil)
    }
    if let registration = types.registrations[className(of: object)],
      registration.making.isNamedBySaves
    {
      return (registration.name, true)
    }
    return restored[object]?.restorationClassName.map { ($0, types.registrations[$0] != nil) }
  }

  /// Whether nodes of the class need no restoration class, since a closure or the
  /// class itself makes them.
  func makesItsObjects(_ className: String) -> Bool {
    guard let making = types.registrations[className]?.making else { return false }
    return making.factory != nil && making.makesItsClass
  }

  enum ResolvedClass {
    case found(Factory)
    case notAFactory
    case unknown
  }

  /// What an archive names as a restoration class.
  func restorationClass(named name: String) -> ResolvedClass {
    guard let registration = types.registrations[name] else { return .unknown }
    return registration.making.factory.map(ResolvedClass.found) ?? .notAFactory
  }

  // MARK: Nodes

  /// The identifier to save the node under; nil leaves it out.
  func identifier(of node: any RestorableNode) -> String? {
    guard let own = node.restorationIdentifier else { return restored[node]?.identifier }
    return own.isEmpty ? nil : own
  }

  /// Remembers what an object was restored by, unless it says that itself.
  func remember(
    _ object: any StateRestoring, identifier: String, restorationClass: String?
  ) {
    let node = object as? any RestorableNode
    let saysAll =
      (node == nil || node?.restorationIdentifier != nil)
      && (restorationClass == nil
        || self.restorationClass(of: object, naming: node?.restorationClass) != nil)
    restored[object] =
      saysAll ? nil : Restored(identifier: identifier, restorationClassName: restorationClass)
  }

  // MARK: Registered objects

  func registerObject(_ object: any RestorableObject, identifier: String) {
    guard !identifier.isEmpty, identifier.utf8.count <= PreservationWalk.longestIdentifier
    else { return }
    registered.insert(object, identifier)
  }

  /// The identifier that the object was registered under; nil if it was not.
  func identifier(ofRegistered object: any StateRestoring) -> String? {
    registered.identifier(of: object) ?? outer?.identifier(ofRegistered: object)
  }

  func registeredObjects(named identifier: String) -> RegisteredObjects.Named {
    let own = registered[identifier]
    return own.entries.isEmpty ? outer?.registeredObjects(named: identifier) ?? own : own
  }

  // MARK: Storyboards

  func register(_ storyboard: Storyboard) throws(RestorationError) {
    if let other = types.storyboards[storyboard.name], other !== storyboard {
      throw RestorationError(
        .nameTaken, "The name “\(storyboard.name)” is registered for another storyboard.")
    }
    types.storyboards[storyboard.name] = storyboard
  }

  func storyboard(named name: String) -> Storyboard? {
    types.storyboards[name]
  }

  func storyboard(of node: any RestorableNode) -> StoryboardReference? {
    for (name, storyboard) in types.storyboards {
      if let identifier = storyboard.identifier(of: node) {
        return StoryboardReference(name: name, identifier: identifier)
      }
    }
    return nil
  }
}
