internal import ArchiveCodec

/// A stored element as this version of the app reads it.
struct PreparedElement {
  /// Its names are current ones, and its state is a migrated copy; it has none
  /// if this version of the app cannot read it.
  let element: StoredTree.Element
  let version: Version

  enum Version {
    case current
    case migrated(from: Int)
    /// It was written by a newer version of the app.
    case newer(stored: Int, known: Int)
    /// The migration from this version threw, or there is none.
    case failed(version: Int, error: String)
  }

  /// Whether there is a state that nobody gets to see.
  var isWithheld: Bool {
    switch version {
    case .current, .migrated: false
    case .newer, .failed: true
    }
  }

  var migratedFrom: Int? {
    if case .migrated(let version) = version { version } else { nil }
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
  /// What the hook was asked, so that it is asked once.
  private var currentNames: [String: String] = [:]

  init(
    types: TypeTable, delegate: (any StateDelegate)?, formerNames: [String: [String]],
    trace: ((RestorationTrace) -> Void)? = nil
  ) {
    self.types = types
    self.delegate = delegate
    self.formerNames = formerNames
    self.trace = trace
  }

  mutating func prepare(_ stored: StoredTree.Element) -> PreparedElement {
    let (className, restorationClassName, known) = names(of: stored.content)
    let (values, version) = migrate(stored, known: known)
    if case .current = version, className == stored.content.className,
      restorationClassName == stored.content.restorationClassName
    {
      return PreparedElement(element: stored, version: version)
    }
    var content = stored.content
    content.className = className
    content.restorationClassName = restorationClassName
    return PreparedElement(
      element: StoredTree.Element(
        record: stored.record, path: stored.path, parent: stored.parent, role: stored.role,
        content: content, values: values),
      version: version)
  }

  /// What the names of the last element were found to be: most have the same.
  private var last: (stored: NodeRecord, names: Names)?
  private typealias Names = (
    className: String, restorationClassName: String?, version: StateVersion
  )

  private mutating func names(of stored: NodeRecord) -> Names {
    if let last, last.stored.className == stored.className,
      last.stored.restorationClassName == stored.restorationClassName
    {
      return last.names
    }
    let className = currentName(of: stored.className)
    let restorationClassName = stored.restorationClassName.map { currentName(of: $0) }
    let names: Names = (
      className, restorationClassName,
      types.version(ofClass: className, restoredBy: restorationClassName)
    )
    last = (stored, names)
    return names
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
    _ stored: StoredTree.Element, known: StateVersion
  ) -> (StoredTree.Values, PreparedElement.Version) {
    let (content, values) = (stored.content, stored.values)
    guard let state = values.state, content.version != known.number else {
      return (values, .current)
    }
    let withheld = StoredTree.Values(builtIn: nil, state: nil)
    guard content.version < known.number else {
      return (withheld, .newer(stored: content.version, known: known.number))
    }
    guard let steps = known.steps(from: content.version) else {
      return (
        withheld,
        .failed(version: content.version, error: "there is no migration from this version")
      )
    }
    let copy = MigratingState(state)
    var version = content.version
    do {
      for step in steps {
        version = step.from
        try step.change(copy)
      }
      return (
        StoredTree.Values(builtIn: values.builtIn, state: try copy.finish()),
        .migrated(from: content.version)
      )
    } catch {
      return (withheld, .failed(version: version, error: error.reason))
    }
  }
}
