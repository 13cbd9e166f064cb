internal import ArchiveCodec

/// The forms of a document, as this version of the app reads them: the classes that they name now, what
/// makes their objects, and how older bodies are migrated.
final class FormReader {
  /// A form is asked for each element, so it is not copied (benchmark: restore nodes).
  final class Reading {
    let stored: Form
    let className: String
    let restorationClassName: String?
    fileprivate let version: StateVersion
    @safe @exclusivity(unchecked) fileprivate var known: Known?
    @safe @exclusivity(unchecked) fileprivate var factory: TypeTable.Factory?

    /// Whether bodies have the version of this version of the app.
    var isCurrent: Bool { stored.version == version.number }

    fileprivate init(_ form: Form, _ types: TypeTable, currentName: (String) -> String) {
      stored = form
      className = currentName(form.className)
      restorationClassName = form.restorationClassName.map(currentName)
      version = types.version(ofClass: className, restoredBy: restorationClassName)
    }
  }

  /// The class of an object that was found for an element.
  struct Known {
    let info: TypeInfo
    /// Whether the class is the one that was saved, whatever its name is now.
    let isSaved: Bool

    /// The class of the object, if another one was saved.
    var otherClass: String? { isSaved ? nil : info.name }
  }

  private let types: TypeTable
  private let formerNames: [String: [String]]
  private let readings: [Reading]
  private var changeCount: Int

  /// Finds the names that classes have now; of the app, nothing but the delegate's hook is called, once
  /// for each name.
  init(_ document: Document, _ types: TypeTable, _ delegate: (any StateDelegate)?) {
    (self.types, formerNames, changeCount) = (types, document.head.formerNames, types.changeCount)
    var names: [String: String] = [:]
    func currentName(of stored: String) -> String {
      if let known = names[stored] { return known }
      // A later version of the app, in which the class has another name, may have saved the element.
      let name =
        ([stored] + (document.head.formerNames[stored] ?? [])).first(where: types.isRegistered)
        ?? delegate?.currentClassName(forStored: stored).flatMap {
          types.isRegistered($0) ? $0 : nil
        } ?? stored
      names[stored] = name
      return name
    }
    readings = document.head.forms.map { Reading($0, types, currentName: currentName) }
  }

  subscript(form: Int32) -> Reading { readings[Int(form)] }

  /// Migrates a body; the copy is nil if nobody gets to see the body.
  func migrate(_ body: KeyedDecoder, _ form: Int32) -> (KeyedDecoder?, StateReading) {
    let known = self[form].version
    let reading = StateReading(self[form].stored.version, by: known)
    guard case .migrated(var version) = reading else {
      return (reading.isWithheld ? nil : body, reading)
    }
    let copy = MigratingState(body)
    do {
      for step in known.steps(from: version) ?? [] {
        version = step.from
        try step.change(copy)
      }
      return (try copy.finish(), reading)
    } catch {
      return (nil, .failed(version: version, error: error.reason))
    }
  }

  /// The class of an object that was found for an element.
  func known(_ object: any StateRestoring, _ form: Int32) -> Known {
    forgetIfRegistered()
    if let known = self[form].known, known.info.type == type(of: object) { return known }
    let name = self[form].className
    let names = [name] + (formerNames[name] ?? [])
    let known = Known(
      info: types.info(of: object),
      isSaved: names.contains { types.isObject(object, ofClassNamed: $0) })
    self[form].known = known
    return known
  }

  /// The factory of a form's restoration class, which has this name; nil if there is none.
  func factory(named name: String, _ form: Int32) -> TypeTable.Factory? {
    forgetIfRegistered()
    if let known = self[form].factory { return known }
    self[form].factory = types.registration(named: name)?.factory
    return self[form].factory
  }

  /// A hook may register a class, so that another one is found from then on.
  private func forgetIfRegistered() {
    guard types.changeCount != changeCount else { return }
    for form in readings { (form.known, form.factory) = (nil, nil) }
    changeCount = types.changeCount
  }
}
