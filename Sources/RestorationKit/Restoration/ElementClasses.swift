/// The classes of stored elements and of their objects, as they were found.
///
/// Most elements of one form have one class and one factory, so both are looked up once for each
/// form (benchmark: restore nodes).
struct ElementClasses {
  /// The class of an object that was found for an element.
  struct Known {
    let info: TypeInfo
    /// Whether the class is the one that was saved, whatever its name is now.
    let isSaved: Bool
  }

  let types: TypeTable
  private let outline: StoredOutline
  /// The names that classes had before the save, by their names in it.
  private let formerNames: [String: [String]]
  /// The names that the classes have now, by the form of the element, as are the next two arrays.
  var names: [PreparedTree.Names?]
  /// The class of the last object of each form.
  private var known: [Known?]
  private var factories: [TypeTable.ResolvedClass?]
  /// The change count of the type table when the classes and factories were found.
  private var changeCount: Int

  init(_ tree: StoredTree, _ types: TypeTable) {
    self.types = types
    outline = tree.outline
    formerNames = tree.formerNames
    names = Array(repeating: nil, count: outline.forms.count)
    known = Array(repeating: nil, count: outline.forms.count)
    factories = Array(repeating: nil, count: outline.forms.count)
    changeCount = types.changeCount
  }

  private func form(of place: Int) -> Int { Int(outline.rows[place].form) }

  func className(of place: Int) -> String {
    names[form(of: place)]?.className ?? outline.form(of: place).className
  }

  func restorationClassName(of place: Int) -> String? {
    names[form(of: place)]?.restorationClassName
  }

  /// The version of the state that the class of an element has now.
  func knownVersion(of place: Int) -> Int {
    (names[form(of: place)]?.version ?? .first).number
  }

  /// Whether an object is of the class that was saved, whatever its name is now.
  func isSaved(_ object: any StateRestoring, at place: Int) -> Bool {
    let className = className(of: place)
    return types.isObject(object, ofClassNamed: className)
      || formerNames[className]?.contains { types.isObject(object, ofClassNamed: $0) } == true
  }

  /// The class of an object that was found for an element.
  mutating func known(_ object: any StateRestoring, at place: Int) -> Known {
    forgetIfRegistered()
    let form = form(of: place)
    if let known = known[form], known.info.type == type(of: object) { return known }
    let new = Known(info: types.info(of: object), isSaved: isSaved(object, at: place))
    known[form] = new
    return new
  }

  /// The factory of an element's restoration class, which has this name.
  mutating func factory(named name: String, at place: Int) -> TypeTable.ResolvedClass {
    forgetIfRegistered()
    let form = form(of: place)
    if let factory = factories[form] { return factory }
    let factory = types.restorationClass(named: name)
    factories[form] = factory
    return factory
  }

  /// A hook may register a class, so that another one is found from then on.
  private mutating func forgetIfRegistered() {
    guard types.changeCount != changeCount else { return }
    known = Array(repeating: nil, count: known.count)
    factories = Array(repeating: nil, count: factories.count)
    changeCount = types.changeCount
  }
}
