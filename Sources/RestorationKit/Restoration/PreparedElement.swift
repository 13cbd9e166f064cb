internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A stored element as this version of the app reads it.
struct PreparedElement {
  /// Its names are current ones, and its state is a migrated copy; it has none
  /// if this version of the app cannot read it.
  let element: StoredTree.Element
  let version: Version
  /// What was found of its values with a sensitivity; nil if it has none.
  let opened: OpenedValues?

  enum Version {
    case current
    case migrated(from: Int)
    /// It was written by a newer version of the app.
    case newer(stored: Int, known: Int)
    /// The migration from this version threw, or there is none.
    case failed(version: Int, error: String)
  }

  var migratedFrom: Int? { version.migratedFrom }
}

extension PreparedElement.Version {
  /// Whether there is a state that nobody gets to see.
  var isWithheld: Bool {
    switch self {
    case .current, .migrated: false
    case .newer, .failed: true
    }
  }

  var migratedFrom: Int? {
    if case .migrated(let version) = self { version } else { nil }
  }
}

/// The elements of a stored tree as this version of the app reads them.
struct PreparedTree {
  /// What the classes of elements are called now.
  struct Names {
    let className: String
    let restorationClassName: String?
    let version: StateVersion
  }

  private let outline: StoredOutline
  /// By the form of the element.
  fileprivate(set) var forms: [Names?]
  /// Of those whose state is of another version than the current one, by place.
  fileprivate var versions: [Int: PreparedElement.Version] = [:]
  fileprivate(set) var values: [Int: StoredTree.Values] = [:]
  /// What was found of values with a sensitivity, of those that have some.
  fileprivate(set) var opened: [Int: OpenedValues] = [:]

  init(_ outline: StoredOutline) {
    self.outline = outline
    forms = Array(repeating: nil, count: outline.forms.count)
  }

  /// The places of those whose state is of another version, in order.
  var otherVersions: [Int] { versions.keys.sorted() }

  func version(of place: Int) -> PreparedElement.Version {
    versions.isEmpty ? .current : versions[place] ?? .current
  }

  /// Whether there is a state that somebody gets to see.
  func hasState(_ place: Int) -> Bool {
    outline.rows[place].state > 0
      && (values.isEmpty || values[place].map { $0.state != nil } ?? true)
  }

  func className(of place: Int) -> String {
    let form = Int(outline.rows[place].form)
    return forms[form]?.className ?? outline.forms[form].className
  }

  /// The version of the state that the class of an element has now.
  func knownVersion(of place: Int) -> Int {
    forms[Int(outline.rows[place].form)]?.version.number ?? StateVersion.first.number
  }

  func restorationClassName(of place: Int) -> String? {
    forms[Int(outline.rows[place].form)]?.restorationClassName
  }
}

/// Finds the current names of stored elements and migrates copies of their state.
///
/// It calls the migrations and the delegate's rename hook, and nothing else.
struct ElementPreparation {
  private let types: TypeTable
  private let delegate: (any StateDelegate)?
  /// What classes were called before the save, by their names in it.
  private let formerNames: [String: [String]]
  private let trace: ((RestorationTrace) -> Void)?
  /// The time by which values end.
  private let clock: Date
  private let secrets: SecretKeys?
  /// What the hook was asked, so that it is asked once.
  private var currentNames: [String: String] = [:]

  init(
    types: TypeTable, delegate: (any StateDelegate)?, formerNames: [String: [String]],
    clock: Date, secrets: SecretKeys?, trace: ((RestorationTrace) -> Void)? = nil
  ) {
    self.clock = clock
    self.secrets = secrets
    self.types = types
    self.delegate = delegate
    self.formerNames = formerNames
    self.trace = trace
  }

  mutating func prepare(_ stored: StoredTree.Element) -> PreparedElement {
    let names = names(of: stored.content.className, stored.content.restorationClassName)
    let (values, version, opened) = migrate(
      stored.values, stored.content.version, known: names.version)
    var content = stored.content
    content.className = names.className
    content.restorationClassName = names.restorationClassName
    return PreparedElement(
      element: StoredTree.Element(
        record: stored.record, path: stored.path, parent: stored.parent, role: stored.role,
        content: content, values: values),
      version: version, opened: opened)
  }

  /// Prepares all elements of a tree, in order.
  mutating func prepare(_ tree: StoredTree) -> PreparedTree {
    var prepared = PreparedTree(tree.outline)
    // By form, whether there is something to migrate; of most of its kind there is not.
    var isOther: [Bool?] = Array(repeating: nil, count: tree.outline.forms.count)
    for (place, row) in tree.outline.rows.enumerated() where isOther[Int(row.form)] != false {
      let form = tree.outline.forms[Int(row.form)]
      let known: StateVersion
      if let names = prepared.forms[Int(row.form)] {
        known = names.version
      } else {
        let names = names(of: form.className, form.restorationClassName)
        prepared.forms[Int(row.form)] = names
        known = names.version
        isOther[Int(row.form)] = known.number != form.version
      }
      guard row.state > 0, form.version != known.number else { continue }
      let (values, version, opened) = migrate(tree.values[place], form.version, known: known)
      prepared.versions[place] = version
      prepared.values[place] = values
      prepared.opened[place] = opened
    }
    for place in tree.outline.sensitive.keys where prepared.versions[place] == nil {
      let version = tree.outline.form(of: place).version
      guard let known = prepared.forms[Int(tree.outline.rows[place].form)]?.version else {
        continue
      }
      let (values, _, opened) = migrate(tree.values[place], version, known: known)
      prepared.values[place] = values
      prepared.opened[place] = opened
    }
    return prepared
  }

  private mutating func names(
    of className: String, _ restorationClassName: String?
  ) -> PreparedTree.Names {
    let className = currentName(of: className)
    let restorationClassName = restorationClassName.map { currentName(of: $0) }
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
      // A later version of the app saved it, which calls it something else.
      name = former
    } else if let delegate {
      trace?(RestorationTrace(call: .currentClassName))
      if let current = delegate.currentClassName(forStored: stored),
        types.isRegistered(current)
      {
        name = current
      }
    }
    currentNames[stored] = name
    return name
  }

  private func migrate(
    _ values: StoredTree.Values, _ stored: Int, known: StateVersion
  ) -> (StoredTree.Values, PreparedElement.Version, OpenedValues?) {
    guard let state = values.state, stored != known.number || values.sensitive != nil else {
      return (values, .current, nil)
    }
    let withheld = StoredTree.Values(builtIn: nil, state: nil)
    guard stored <= known.number else {
      return (withheld, .newer(stored: stored, known: known.number), nil)
    }
    guard let steps = known.steps(from: stored) else {
      return (
        withheld,
        .failed(version: stored, error: "there is no migration from this version"), nil
      )
    }
    let copy = MigratingState(state)
    var opened = values.sensitive.map { copy.put($0, at: clock, secrets) }
    var version = stored
    do {
      for step in steps {
        version = step.from
        try step.change(copy)
      }
      opened?.aged = try copy.agedValues()
      return (
        StoredTree.Values(builtIn: values.builtIn, state: try copy.finish()),
        stored == known.number ? .current : .migrated(from: stored), opened
      )
    } catch {
      return (withheld, .failed(version: version, error: error.reason), nil)
    }
  }
}
