/// The names and the forms under which the objects of one state are stored: what the objects do not say
/// themselves, since they were restored by it, or registered as it, comes from here.
final class ObjectTable {
  private struct Registered {
    let number: Int
    weak var object: (any RestorableObject)?
  }

  let types: TypeTable
  /// The names under which nodes were restored, which saves use where a node names none itself.
  private var restoredNames = WeakTable<(identifier: String, restorationClass: String?)>()
  /// The identifiers that objects were registered under.
  private(set) var registeredNames = WeakTable<String>()
  /// The objects that were registered under each identifier, in that order, for as long as they live.
  private var registered: [String: [Registered]] = [:]
  /// Whether an object may be saved under names that it was restored under.
  private(set) var hasRestoredNames = false
  /// Counts the registered objects.
  private(set) var changeCount = 0
  /// The forms of the document, and those that a save meets first.
  private var forms: [Form] = []
  private var numbers: [Form: Int32] = [:]
  private var storedCount = 0
  /// Counts how often forms may have got other numbers.
  private var age = 0

  init(_ types: TypeTable) { self.types = types }

  // MARK: Nodes

  /// The identifier to save the node under; nil leaves it out.
  func identifier(of node: any RestorableNode) -> String? {
    let own = node.restorationName
    // A node that was restored under another identifier keeps it: under the name of its class it
    // could be the second node of that name.
    if hasRestoredNames, own == nil || types.info(of: node).isNamedByClass,
      let restored = restoredNames[node]
    {
      return restored.identifier
    }
    return own?.isEmpty == true ? nil : own
  }

  /// Remembers the names under which an object was restored, unless the object says them itself.
  func remember(
    _ object: any StateRestoring, _ info: TypeInfo, _ node: (any RestorableNode)?,
    identifier: String, restorationClass: String?
  ) {
    let own = node?.restorationName
    let saysItsName = node == nil || (info.isNamedByClass ? own == identifier : own != nil)
    let saysAll =
      saysItsName
      && (restorationClass == nil
        || self.restorationClass(of: object, info, naming: node?.restorationClass) != nil)
    if saysAll, !hasRestoredNames { return }
    restoredNames[object] = saysAll ? nil : (identifier, restorationClass)
    (hasRestoredNames, age) = (true, age + 1)
  }

  /// The restoration class to save, if the object names one, is made by a
  /// registered closure, or was restored by one.
  private func restorationClass(
    of object: any StateRestoring, _ info: TypeInfo, naming type: Any.Type?
  ) -> String? {
    // Most nodes are made by their own class.
    if let type { return type == info.type ? info.name : types.name(of: type) }
    if let own = info.registration, own.isNamedBySaves { return own.name }
    return restoredNames[object]?.restorationClass
  }

  // MARK: Registered objects

  /// Registers an object; it keeps the last identifier that it was given.
  func register(_ object: any RestorableObject, identifier: String) {
    guard Element.canBeCalled(identifier) else { return }
    let old = registeredNames[object]
    guard old != identifier else { return }
    changeCount += 1
    if let old { registered[old]?.removeAll { $0.object === object } }
    registeredNames[object] = identifier
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
    return registeredNames[object]
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
    form.version = types.version(ofClass: info.name, restoredBy: maker).number
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
