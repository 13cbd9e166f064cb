/// What is known of the classes that the objects of a stored tree have, by the form of
/// the element.
///
/// Most elements of one form are of one class and made by one factory, which are asked
/// for once and not for each (benchmark: restore nodes).
struct FormClasses {
  /// The class of the object that came last.
  struct Known {
    let info: TypeInfo
    /// Whether it is the one that was saved, whatever it is called now.
    let isSaved: Bool
  }

  private let types: TypeTable
  private var known: [Known?]
  private var factories: [TypeTable.ResolvedClass?]
  /// What was registered when all that was found.
  private var changeCount: Int

  init(_ types: TypeTable, formCount: Int) {
    self.types = types
    known = Array(repeating: nil, count: formCount)
    factories = Array(repeating: nil, count: formCount)
    changeCount = types.changeCount
  }

  /// The class of an object, of which the element of a form had another one when it
  /// was saved if `isSaved` says no.
  mutating func known(
    _ object: any StateRestoring, form: Int, isSaved: (any StateRestoring) -> Bool
  ) -> Known {
    forgetWhatHasChanged()
    if let known = known[form], known.info.type == type(of: object) { return known }
    let new = Known(info: types.info(of: object), isSaved: isSaved(object))
    known[form] = new
    return new
  }

  /// What makes the elements of a form that name a restoration class.
  mutating func factory(named name: String, form: Int) -> TypeTable.ResolvedClass {
    forgetWhatHasChanged()
    if let factory = factories[form] { return factory }
    let factory = types.restorationClass(named: name)
    factories[form] = factory
    return factory
  }

  /// A hook may register a class.
  private mutating func forgetWhatHasChanged() {
    guard types.changeCount != changeCount else { return }
    self = FormClasses(types, formCount: known.count)
  }
}
