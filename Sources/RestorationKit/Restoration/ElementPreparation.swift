internal import ArchiveCodec

/// The elements of a stored tree as this version of the app reads them.
struct PreparedTree {
  /// The names that the classes of elements have now.
  struct Names {
    let className: String
    let restorationClassName: String?
    let version: StateVersion
  }

  private let outline: StoredOutline
  /// The current names, by the form of the element.
  fileprivate(set) var names: [Names?]
  /// How states of another version than the current one are read, by the indices of the elements.
  fileprivate var readings: [Int: StateReading] = [:]
  /// The states that are read in place of the stored ones: migrated copies, or none if nobody
  /// gets to see the stored one.
  fileprivate(set) var values: [Int: StoredTree.Values] = [:]

  init(_ outline: StoredOutline) {
    self.outline = outline
    names = Array(repeating: nil, count: outline.forms.count)
  }

  /// The indices of the elements with a state that nobody gets to see, in order.
  var withheld: [Int] { readings.filter(\.value.isWithheld).keys.sorted() }

  func reading(of index: Int) -> StateReading {
    readings.isEmpty ? .current : readings[index] ?? .current
  }

  /// Whether an element has a state that an object gets to see.
  func hasState(_ index: Int) -> Bool {
    outline.rows[index].state > 0
      && (values.isEmpty || values[index].map { $0.state != nil } ?? true)
  }
}

/// Finds the current names of stored elements and migrates copies of their state.
///
/// Of the app, the preparation calls the migrations and the delegate's rename
/// hook, and nothing else.
struct ElementPreparation {
  private let types: TypeTable
  private let delegate: (any StateDelegate)?
  /// The names that classes had before the save, by their names in it.
  private let formerNames: [String: [String]]
  /// The answers of the hook, so that it is asked once for each name.
  private var currentNames: [String: String] = [:]

  init(
    types: TypeTable, delegate: (any StateDelegate)?, formerNames: [String: [String]]
  ) {
    self.types = types
    self.delegate = delegate
    self.formerNames = formerNames
  }

  /// Prepares all elements of a tree, in order.
  mutating func prepare(_ tree: StoredTree) -> PreparedTree {
    var prepared = PreparedTree(tree.outline)
    // Whether a form is of another version than its class now; most are not, and
    // their elements are skipped.
    var isOther: [Bool?] = Array(repeating: nil, count: tree.outline.forms.count)
    for (index, row) in tree.outline.rows.enumerated() where isOther[Int(row.form)] != false {
      let form = tree.outline.forms[Int(row.form)]
      let names = prepared.names[Int(row.form)] ?? names(of: form)
      prepared.names[Int(row.form)] = names
      isOther[Int(row.form)] = names.version.number != form.version
      guard row.state > 0, names.version.number != form.version else { continue }
      let (values, reading) = migrate(tree.values[index], form.version, known: names.version)
      prepared.values[index] = values
      prepared.readings[index] = reading
    }
    return prepared
  }

  private mutating func names(of form: StoredForm) -> PreparedTree.Names {
    let className = currentName(of: form.className)
    let restorationClassName = form.restorationClassName.map { currentName(of: $0) }
    return PreparedTree.Names(
      className: className, restorationClassName: restorationClassName,
      version: types.version(ofClass: className, restoredBy: restorationClassName))
  }

  /// A name that is registered, if there is one for the stored name.
  private mutating func currentName(of stored: String) -> String {
    if types.isRegistered(stored) { return stored }
    if let known = currentNames[stored] { return known }
    var name = stored
    if let former = formerNames[stored]?.first(where: types.isRegistered) {
      // A later version of the app, in which the class has another name, saved the element.
      name = former
    } else if let current = delegate?.currentClassName(forStored: stored),
      types.isRegistered(current)
    {
      name = current
    }
    currentNames[stored] = name
    return name
  }

  /// Reads the state of an element that is of another version.
  private func migrate(
    _ values: StoredTree.Values, _ stored: Int, known: StateVersion
  ) -> (StoredTree.Values, StateReading) {
    guard let state = values.state else { return (values, .current) }
    let withheld = StoredTree.Values(builtIn: nil, state: nil)
    guard stored <= known.number else {
      return (withheld, .newer(stored: stored, known: known.number))
    }
    guard let steps = known.steps(from: stored) else {
      return (
        withheld, .failed(version: stored, error: "there is no migration from this version")
      )
    }
    let copy = MigratingState(state)
    var version = stored
    do {
      for step in steps {
        version = step.from
        try step.change(copy)
      }
      return (
        StoredTree.Values(builtIn: values.builtIn, state: try KeyedDecoder.encoding(copy.write)),
        .migrated(from: stored)
      )
    } catch {
      return (withheld, .failed(version: version, error: error.reason))
    }
  }
}
