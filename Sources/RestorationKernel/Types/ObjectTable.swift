/// The facts about the objects of one state that the objects do not say themselves: what each was
/// restored by, and what it was registered as.
final class ObjectTable {
  let types: TypeTable
  /// The names under which nodes were restored, which saves use where a node names none itself.
  private var restoredNames = WeakTable<(identifier: String, restorationClass: String?)>()
  private var registeredNames = WeakTable<String>()
  private var registered: [String: RegisteredObjects] = [:]
  /// Whether an object may be saved under names that it was restored under.
  private(set) var hasRestoredNames = false
  /// Counts the registered objects.
  private(set) var changeCount = 0

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
        || self.restorationClass(
          of: object, info, naming: node?.restorationClass) != nil)
    if saysAll, restoredNames[object] == nil { return }
    restoredNames[object] = saysAll ? nil : (identifier, restorationClass)
    hasRestoredNames = true
  }

  /// The restoration class to save, if the object names one, is made by a
  /// registered closure, or was restored by one.
  func restorationClass(
    of object: any StateRestoring, _ info: TypeInfo, naming type: Any.Type?
  ) -> (name: String, isRegistered: Bool)? {
    if let type {
      // Most nodes are made by their own class.
      if type == info.type { return (info.name, info.registration?.factory != nil) }
      let name = types.name(of: type)
      return (name, types.registration(named: name)?.factory != nil)
    }
    if let own = info.registration, own.isNamedBySaves { return (own.name, true) }
    return restoredNames[object]?.restorationClass.map {
      ($0, types.registration(named: $0) != nil)
    }
  }

  // MARK: Registered objects

  /// Registers an object; it keeps the last identifier that it was given.
  func register(_ object: any RestorableObject, identifier: String) {
    guard !identifier.isEmpty, identifier.utf8.count <= Element.longestName else { return }
    let old = registeredNames[object]
    guard old != identifier else { return }
    changeCount += 1
    if let old { registered[old]?.remove { $0.object === object } }
    registeredNames[object] = identifier
    registered[identifier, default: RegisteredObjects()].append(object)
  }

  /// The identifier that the object was registered under; nil if it was not.
  func identifier(ofRegistered object: any StateRestoring) -> String? {
    registeredNames[object]
  }

  func registeredObjects(named identifier: String) -> RegisteredObjects {
    registered[identifier] ?? RegisteredObjects()
  }

  // MARK: References

  /// Whether a reference to an object that is no view can be stored.
  func canBeReferred(_ object: any StateRestoring) -> Bool {
    let node = object as? any RestorableNode
    return (node.map { identifier(of: $0) } ?? identifier(ofRegistered: object)) != nil
  }
}

/// The forms of a document, and those that a save meets first.
final class FormTable {
  let objects: ObjectTable
  private var types: TypeTable { objects.types }
  private var forms: [Form] = []
  private var numbers: [Form: Int32] = [:]
  private var storedCount = 0
  /// The forms that the document does not have yet.
  var newForms: ArraySlice<Form> { forms[storedCount...] }
  /// Counts how often forms may have got other numbers.
  private var age = 0

  init(_ objects: ObjectTable) { self.objects = objects }

  /// Goes on with the forms of a document, and forgets those of a save that was not stored.
  func begin(with document: Document) {
    storedCount = document.head.forms.count
    guard forms != document.head.forms else { return }
    (forms, age) = (document.head.forms, age + 1)
    numbers = Dictionary(zip(forms, 0...), uniquingKeysWith: { first, _ in first })
  }

  /// The number of the form in which an object is stored; a restoration class that is not registered
  /// is noted.
  func form(
    of object: any StateRestoring, _ info: TypeInfo, restorationClass: Any.Type?,
    note: (ReportNote) -> Void
  ) -> Int32 {
    // The table is asked for each object that a save meets: most of one type have one form.
    let named = restorationClass.map { ObjectIdentifier($0) }
    let isPlain = !types.hasStoryboards && !objects.hasRestoredNames
    if isPlain, let known = info.form, known.age == age, known.named == named {
      return known.number
    }
    let maker = objects.restorationClass(of: object, info, naming: restorationClass)
    if let maker, !maker.isRegistered { note(.restorationClassNotRegistered(maker.name)) }
    var form = Form(className: info.name, restorationClassName: maker?.name)
    form.version = types.version(ofClass: info.name, restoredBy: maker?.name).number
    if types.hasStoryboards, let node = info.node(object) {
      form.storyboard = types.storyboard(of: node)
    }
    let number = number(of: form)
    if isPlain, maker?.isRegistered ?? true { info.form = (age, named, number) }
    return number
  }

  private func number(of form: Form) -> Int32 {
    if let number = numbers[form] { return number }
    let number = Int32(forms.count)
    forms.append(form)
    numbers[form] = number
    return number
  }
}
