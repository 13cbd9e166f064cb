internal import ArchiveCodec

/// The forms of a document, as this version of the app reads them: the classes that they name now, what
/// makes their objects, and how older bodies are migrated.
struct FormReader {
  private struct Reading {
    let className: String
    let restorationClassName: String?
    let version: StateVersion
  }

  /// The class of an object that was found for an element.
  struct Known {
    let info: TypeInfo
    /// Whether the class is the one that was saved, whatever its name is now.
    let isSaved: Bool
  }

  let types: TypeTable
  private let forms: [Form]
  private let formerNames: [String: [String]]
  private var readings: [Reading] = []
  // A hook may register a class, so that another one is found from then on.
  private var known: [Known?] = []
  private var factories: [TypeTable.Factory?] = []
  private var changeCount = -1

  init(_ document: Document, _ types: TypeTable) {
    (self.types, forms, formerNames) = (types, document.forms, document.formerNames)
  }

  /// Finds the names that classes have now; of the app, nothing but the delegate's hook is called, once
  /// for each name.
  mutating func findNames(_ delegate: (any StateDelegate)?) {
    let (types, formerNames) = (types, formerNames)
    var names: [String: String] = [:]
    func currentName(of stored: String) -> String {
      if types.isRegistered(stored) { return stored }
      if let known = names[stored] { return known }
      var name = stored
      if let former = formerNames[stored]?.first(where: types.isRegistered) {
        // A later version of the app, in which the class has another name, saved the element.
        name = former
      } else if let current = delegate?.currentClassName(forStored: stored),
        types.isRegistered(current)
      {
        name = current
      }
      names[stored] = name
      return name
    }
    readings = forms.map { form in
      let className = currentName(of: form.className)
      let restorationClassName = form.restorationClassName.map { currentName(of: $0) }
      return Reading(
        className: className, restorationClassName: restorationClassName,
        version: types.version(ofClass: className, restoredBy: restorationClassName))
    }
  }

  subscript(form: Int32) -> Form { forms[Int(form)] }

  func className(_ form: Int32) -> String { readings[Int(form)].className }

  func restorationClassName(_ form: Int32) -> String? { readings[Int(form)].restorationClassName }

  /// How this version of the app reads bodies of a form, but for what a migration finds out.
  func reading(_ form: Int32) -> StateReading {
    let (stored, known) = (forms[Int(form)].version, readings[Int(form)].version)
    if stored == known.number { return .current }
    guard stored < known.number else { return .newer(stored: stored, known: known.number) }
    return known.steps(from: stored) == nil
      ? .failed(version: stored, error: "there is no migration from this version")
      : .migrated(from: stored)
  }

  /// Migrates a body; the copy is nil if nobody gets to see the body.
  func migrate(_ body: KeyedDecoder, _ form: Int32) -> (KeyedDecoder?, StateReading) {
    let reading = reading(form)
    guard case .migrated = reading else { return (reading.isWithheld ? nil : body, reading) }
    let copy = MigratingState(body)
    var version = forms[Int(form)].version
    do {
      for step in readings[Int(form)].version.steps(from: version) ?? [] {
        version = step.from
        try step.change(copy)
      }
      return (try copy.finish(), reading)
    } catch {
      return (nil, .failed(version: version, error: error.reason))
    }
  }

  /// Whether an object is of the class that was saved, whatever its name is now.
  func isSaved(_ object: any StateRestoring, _ form: Int32) -> Bool {
    let className = className(form)
    return types.isObject(object, ofClassNamed: className)
      || formerNames[className]?.contains { types.isObject(object, ofClassNamed: $0) } == true
  }

  /// The class of an object that was found for an element.
  mutating func known(_ object: any StateRestoring, _ form: Int32) -> Known {
    forgetIfRegistered()
    if let known = known[Int(form)], known.info.type == type(of: object) { return known }
    let new = Known(info: types.info(of: object), isSaved: isSaved(object, form))
    known[Int(form)] = new
    return new
  }

  /// The factory of a form's restoration class, which has this name; nil if there is none.
  mutating func factory(named name: String, _ form: Int32) -> TypeTable.Factory? {
    forgetIfRegistered()
    if factories[Int(form)] == nil {
      factories[Int(form)] = types.registration(named: name)?.factory
    }
    return factories[Int(form)]
  }

  private mutating func forgetIfRegistered() {
    guard types.changeCount != changeCount else { return }
    known = Array(repeating: nil, count: forms.count)
    factories = Array(repeating: nil, count: forms.count)
    changeCount = types.changeCount
  }
}
