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

  private func form(of index: Int) -> Int { Int(outline.rows[index].form) }

  func className(of index: Int) -> String {
    names[form(of: index)]?.className ?? outline.form(of: index).className
  }

  func restorationClassName(of index: Int) -> String? {
    names[form(of: index)]?.restorationClassName
  }

  /// The version of the state that the class of an element has now.
  func knownVersion(of index: Int) -> Int {
    (names[form(of: index)]?.version ?? .first).number
  }

  /// Whether an object is of the class that was saved, whatever its name is now.
  func isSaved(_ object: any StateRestoring, at index: Int) -> Bool {
    let className = className(of: index)
    return types.isObject(object, ofClassNamed: className)
      || formerNames[className]?.contains { types.isObject(object, ofClassNamed: $0) } == true
  }

  /// The class of an object that was found for an element.
  mutating func known(_ object: any StateRestoring, at index: Int) -> Known {
    forgetIfRegistered()
    let form = form(of: index)
    if let known = known[form], known.info.type == type(of: object) { return known }
    let new = Known(info: types.info(of: object), isSaved: isSaved(object, at: index))
    known[form] = new
    return new
  }

  /// The factory of an element's restoration class, which has this name.
  mutating func factory(named name: String, at index: Int) -> TypeTable.ResolvedClass {
    forgetIfRegistered()
    let form = form(of: index)
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
