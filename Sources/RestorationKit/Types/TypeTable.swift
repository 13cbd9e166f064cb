/// The types of an app: their names in archives, their abilities, what makes their objects, and the
/// storyboards.
///
/// Each keeper has one.
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
  private(set) var registrations: [String: Registration] = .init()
  private(set) var storyboards: [String: Storyboard] = .init()
  // Asked for every object, and changed by calls on the actor of the app alone, so the check whether both
  // happen at once would take longer than the answer (benchmark: save 10,000 nodes).
  @safe @exclusivity(unchecked) private var known = (
    infos: [TypeInfo](), numbers: KeyTable(), changeCount: 0
  )

  /// Counts the registrations.
  var changeCount: Int { known.changeCount }

  // MARK: Registering

  func register(
    _ type: Any.Type, as given: String?, aliases: [String], version: Int,
    migrations: StateVersion.Migrations, factory: Factory?, isNamedBySaves: Bool = false
  ) throws(RestorationError) {
    let name = given ?? String(nameOf: type)
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
    names[ObjectIdentifier(type)] = given
    // The registration may change answers that were given before.
    known = ([], KeyTable(), changeCount + 1)
  }

  /// The names that types were given for archives; of types that were registered twice, the last.
  private var names: [ObjectIdentifier: String] = .init()

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
  /// if the class is not registered; nil for the first one, if neither is.
  func version(ofClass name: String, restoredBy restorationClass: String?) -> StateVersion? {
    (registrations[name] ?? restorationClass.flatMap { registrations[$0] })?.version
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
  /// The form of the object that was met last, by the restoration class that it names; see ``ObjectTable``.
  @safe @exclusivity(unchecked) var form: (age: Int, named: ObjectIdentifier?, number: Int32)?
  /// The type as one of nodes; nil if its objects are no nodes.
  private let nodeType: (any RestorableNode.Type)?

  init(
    _ type: any StateRestoring.Type, _ name: String, _ traits: TypeTraits,
    registration: TypeTable.Registration?
  ) {
    (self.type, self.name, self.traits, tracking) = (type, name, traits, type.stateTracking)
    self.registration = registration
    nodeType = type.nodeType
  }

  /// An object of exactly this type as a node; nil if it is none.
  ///
  /// To ask the object itself for the conformance takes longer than to make the object (benchmark:
  /// restore nodes).
  func node(_ object: any StateRestoring) -> (any RestorableNode)? {
    precondition(type == Swift.type(of: object), "the object of another type")
    func cast<Node: RestorableNode>(to type: Node.Type) -> any RestorableNode {
      unsafe unsafeDowncast(object, to: type)
    }
    return nodeType.map { cast(to: $0) }
  }

  /// The restoration class that an object of exactly this type names.
  func restorationClass(of object: any StateRestoring) -> Any.Type? {
    guard let node = node(object) else {
      return (object as? any RestorableObject)?.objectRestorationClass
    }
    return node.restorationClass
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
  /// The library writes something of its own for the objects.
  static let hasBuiltInState = TypeTraits(rawValue: 1 << 3)
  /// The library writes a value or fields of the objects beside their hooks.
  static let stateful = TypeTraits(rawValue: 1 << 4)
  /// The fields of the objects are among that.
  static let screen = TypeTraits(rawValue: 1 << 5)

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
    if object is any RestorableList || object is any RestorableScrolling
      || object is any RestorableTextSelection
    {
      insert(.hasBuiltInState)
    }
    if object is any StatefulRestoring { insert(.stateful) }
    if object is any RestorableScreen { insert([.stateful, .screen]) }
  }
}

extension RestorableNode {
  /// The class itself.
  @_documentation(visibility: internal)
  public static var restorableNodeType: (any RestorableNode.Type)? { self }
}

/// The names and the forms under which the objects of one state are stored: what the objects do not say
/// themselves, since they were restored by it, or registered as it, comes from here.
final class ObjectTable {
  private struct Registered {
    let number: Int
    weak var object: (any RestorableObject)?
  }

  let types: TypeTable
  /// The names under which nodes were restored, which saves use where a node names none itself.
  private var restoredNames: WeakTable<(identifier: String, restorationClass: String?)>?
  /// The identifiers that objects were registered under; nil if none was.
  private var registeredNames: WeakTable<String>?
  /// The objects that were registered under each identifier, in that order, for as long as they live.
  private var registered: [String: [Registered]] = .init()
  /// Whether an object may be saved under names that it was restored under.
  var hasRestoredNames: Bool { restoredNames != nil }
  /// Counts the registered objects.
  private(set) var changeCount = 0
  /// The forms of the document, and those that a save meets first.
  private var forms: [Form] = []
  private var numbers: [Form: Int32] = .init()
  private var storedCount = 0
  /// Counts how often forms may have got other numbers.
  private var age = 0

  init(_ types: TypeTable) { self.types = types }

  // MARK: Nodes

  /// The identifier to save the node under; nil leaves it out.
  func identifier(of node: any RestorableNode) -> String? {
    let own = node.restorationName
    if let restored = restoredNames?[node], isReplaceable(own, of: node) {
      return restored.identifier
    }
    return own?.isEmpty == true ? nil : own
  }

  /// Whether a node that was restored under another identifier than its own keeps that: under the name of its
  /// class it could be the second node of that name.
  private func isReplaceable(_ own: String?, of node: AnyObject) -> Bool {
    own == nil || own == String(nameOf: type(of: node))
  }

  /// Remembers the names under which an object was restored, unless the object says them itself.
  func remember(
    _ object: any StateRestoring, _ info: TypeInfo, _ node: (any RestorableNode)?,
    identifier: String, restorationClass: String?
  ) {
    let own = node?.restorationName
    let saysItsName = node == nil || own == identifier || !isReplaceable(own, of: object)
    let saysAll =
      saysItsName
      && (restorationClass == nil
        || self.restorationClass(of: object, info, naming: node?.restorationClass) != nil)
    if saysAll, !hasRestoredNames { return }
    if restoredNames == nil { restoredNames = WeakTable() }
    restoredNames?[object] = saysAll ? nil : (identifier, restorationClass)
    age += 1
  }

  /// The restoration class to save, if the object names one, is made by a
  /// registered closure, or was restored by one.
  private func restorationClass(
    of object: any StateRestoring, _ info: TypeInfo, naming type: Any.Type?
  ) -> String? {
    // Most nodes are made by their own class.
    if let type { return type == info.type ? info.name : types.name(of: type) }
    if let own = info.registration, own.isNamedBySaves { return own.name }
    return restoredNames?[object]?.restorationClass
  }

  // MARK: Registered objects

  func registeredName(of object: AnyObject) -> String? { registeredNames?[object] }

  /// Registers an object; it keeps the last identifier that it was given.
  func register(_ object: any RestorableObject, identifier: String) {
    guard Element.canBeCalled(identifier) else { return }
    let old = registeredName(of: object)
    guard old != identifier else { return }
    changeCount += 1
    if let old { registered[old]?.removeAll { $0.object === object } }
    if registeredNames == nil { registeredNames = WeakTable() }
    registeredNames?[object] = identifier
    var equal = registered.removeValue(forKey: identifier) ?? []
    // Entries of objects that are gone are dropped when the array would grow.
    if equal.count == equal.capacity { equal.removeAll { $0.object == nil } }
    equal.append(Registered(number: changeCount, object: object))
    registered[identifier] = equal
  }

  /// The living objects of an identifier that were registered after one of a number, each with its own.
  func registeredObjects(
    named identifier: String, after last: Int = 0
  ) -> some Sequence<(number: Int, object: any RestorableObject)> {
    let all = registered[identifier] ?? []
    let old = all.lastIndex { $0.number <= last } ?? -1
    return all[(old + 1)...].lazy.compactMap { entry in entry.object.map { (entry.number, $0) } }
  }

  /// The name of a node, a view or a registered object; nil if it has none.
  func name(of object: any StateRestoring) -> String? {
    if let node = types.info(of: object).node(object) { return identifier(of: node) }
    if let view = object as? any RestorableView { return view.restorationName }
    return registeredName(of: object)
  }

  // MARK: Forms

  /// The forms that the document does not have yet.
  var newForms: ArraySlice<Form> { forms[storedCount...] }

  /// Goes on with the forms of a document, and forgets those of a save that was not stored.
  func begin(with stored: [Form]) {
    storedCount = stored.count
    guard forms != stored else { return }
    (forms, age) = (stored, age + 1)
    numbers = Dictionary(zip(forms, 0...), uniquingKeysWith: { first, _ in first })
  }

  /// The number of the form in which an object is stored; a restoration class that is not registered
  /// is noted.
  func form(
    of object: any StateRestoring, _ info: TypeInfo, note: (ReportNote) -> Void
  ) -> Int32 {
    // The table is asked for each object that a save meets: most of one type have one form.
    let restorationClass = info.restorationClass(of: object)
    let named = restorationClass.map { ObjectIdentifier($0) }
    // What is registered makes a form older, too.
    let age = age + types.changeCount
    if let known = info.form, known.age == age, known.named == named { return known.number }
    let maker = self.restorationClass(of: object, info, naming: restorationClass)
    let isMade = maker.map { types.registrations[$0]?.factory != nil } ?? true
    if let maker, !isMade { note(.restorationClassNotRegistered(maker)) }
    var form = Form(className: info.name, restorationClassName: maker)
    form.version = types.version(ofClass: info.name, restoredBy: maker)?.number ?? 1
    form.storyboard = info.node(object).flatMap(types.storyboard)
    let number = numbers[form] ?? Int32(forms.count)
    if number == forms.count {
      forms.append(form)
      numbers[form] = number
    }
    // Of others each object has a form of its own.
    let isPlain = types.storyboards.isEmpty && !hasRestoredNames
    if isPlain, isMade { info.form = (age, named, number) }
    return number
  }
}

/// Numbers by keys of 64 bits, none of them 0, of which none is ever removed.
///
/// A dictionary would hash each key with a secret, which takes several times as long as all else here. Keys that
/// follow each other lie side by side, so that a walk in their order finds them in the same lines of the memory
/// (benchmark: restore 10,000 nodes).
struct KeyTable {
  /// A key and its number lie side by side: most times are those of the memory.
  private var cells: [(key: UInt64, number: Int32)]
  private(set) var count = 0
  private var shift: UInt64

  /// - Parameter expected: How many keys there will be; with none, there are no cells before the first key.
  init(expecting expected: Int = 0) {
    // At most half of the cells are taken.
    let bits = Int.bitWidth - max(expected * 2 - 1, 15).leadingZeroBitCount
    // To repeat a value by itself looks its type up each time (benchmark: restore small states).
    cells = Array(repeatElement((key: 0, number: 0), count: expected == 0 ? 0 : 1 << bits))
    shift = UInt64(64 + 3 - bits)
  }

  subscript(key: UInt64) -> Int32? {
    if cells.isEmpty { return nil }
    let (found, number) = cells[cell(of: key)]
    return found == key ? number : nil
  }

  /// Sets the number of a key; returns the one that it had.
  @discardableResult
  mutating func set(_ key: UInt64, _ number: Int32) -> Int32? {
    if count * 2 >= cells.count { grow() }
    let cell = cell(of: key)
    let before = cells[cell].key == key ? cells[cell].number : nil
    cells[cell] = (key, number)
    if before == nil { count += 1 }
    return before
  }

  /// The cell of a key, or the free one at which it would be.
  private func cell(of key: UInt64) -> Int {
    // The addresses of objects of one size have steps that one multiplication does not spread.
    var group = (key &>> 3) &* 0x9E37_79B9_7F4A_7C15
    group = (group ^ group &>> 32) &* 0x9E37_79B9_7F4A_7C15
    var cell = Int((group &>> shift) &<< 3 | key & 7)
    while cells[cell].key != key, cells[cell].key != 0 {
      cell = (cell + 1) & (cells.count - 1)
    }
    return cell
  }

  private mutating func grow() {
    var larger = KeyTable(expecting: max(8, cells.count))
    for (key, number) in cells where key != 0 { larger.set(key, number) }
    self = larger
  }
}

extension UInt64 {
  /// A key that no other living object has.
  init(addressOf object: AnyObject) {
    self.init(identifierOf: ObjectIdentifier(object))
  }

  init(identifierOf object: ObjectIdentifier) {
    // Each object has more bytes than these.
    self = UInt64(UInt(bitPattern: object)) >> 4
  }
}
