package import RestorationFoundation

/// A stored element without its values, in memory that refers to none.
package struct StoredRow: Sendable {
  /// The number of the record.
  package let record: UInt64
  /// The kind of the element.
  package let kind: ElementKind
  /// Whether the state is from an earlier save, because a later one could not be encoded.
  package internal(set) var hasLastState = false
  /// The relation to the parent.
  package internal(set) var role = StoredTree.Role.root
  /// The index of the parent; less than 0 for a root.
  private var above: Int32 = -1
  /// The form of the element, in ``StoredOutline/forms``.
  package internal(set) var form: Int32
  /// The index of the record among those of the archive.
  package internal(set) var recordPlace: UInt32 = 0
  /// Where these begin in the record, which is less than 2^24 bytes long; 0 if they
  /// are not there.
  var builtIn: UInt32 = 0
  var state: UInt32 = 0
  var connections = StoredConnections()

  var parent: Int? {
    get { above < 0 ? nil : Int(above) }
    set { above = newValue.map { Int32($0) } ?? -1 }
  }

  init(_ record: UInt64, _ kind: ElementKind, form: Int32) {
    (self.record, self.kind, self.form) = (record, kind, form)
  }
}

/// The records that the record of an element names.
struct StoredConnections: Sendable {
  /// In ``StoredOutline/references``.
  var views: Range<Int32> = 0..<0
  var children: Range<Int32> = 0..<0
  /// 0 if there is none, as no record has that number.
  var presented: UInt64 = 0
  var referrer: UInt64 = 0

  /// Says that the views and children lie elsewhere among the references.
  mutating func move(by distance: Int32) {
    views = views.lowerBound + distance..<views.upperBound + distance
    children = children.lowerBound + distance..<children.upperBound + distance
  }
}

/// The parts that the records of few elements have, by the numbers of these records.
struct RareParts: Sendable {
  /// When the element was first saved without having been back.
  var keptSince: [UInt64: Date] = [:]
  /// Where the states begin that are kept beside that of the element; none in a part of a tree.
  var kept: [UInt64: UInt32] = [:]

  mutating func merge(_ other: RareParts) {
    keptSince.merge(other.keptSince) { first, _ in first }
    kept.merge(other.kept) { first, _ in first }
  }
}

/// What stored elements have in common: most of a class are of one form.
package struct StoredForm: Sendable {
  /// The name of the class.
  package let className: String
  /// The name of the class that makes the element; nil if none was named.
  package let restorationClassName: String?
  let storyboard: StoryboardReference?
  /// The version of the state.
  package let version: Int
}

extension StoredForm {
  init(_ content: NodeRecord) {
    self.init(
      className: content.className, restorationClassName: content.restorationClassName,
      storyboard: content.storyboard, version: content.version)
  }
}

/// The elements of a stored tree without their values, each after its parent and
/// after its elder siblings.
///
/// The outline is a class because a report uses it when the tree is gone.
package final class StoredOutline: Sendable {
  /// The elements in their order.
  package let rows: [StoredRow]
  /// The forms of the elements.
  package let forms: [StoredForm]
  let references: [UInt64]
  /// The names of the elements, by their indices.
  package let names: StoredNames
  private let rare: RareParts
  /// The paths of a part of a tree, which do not begin with it.
  private let paths: [RestorationPath]

  init(
    _ rows: [StoredRow], _ forms: [StoredForm], _ references: [UInt64],
    _ names: [SiblingCheck.Name], _ rare: RareParts, paths: [RestorationPath] = []
  ) {
    self.rows = rows
    self.forms = forms
    self.references = references
    self.names = StoredNames(names)
    self.rare = rare
    self.paths = paths
  }

  /// The outline of a part of a tree.
  convenience init(_ elements: [StoredTree.Element]) {
    var rows: [StoredRow] = []
    var references: [UInt64] = []
    var rare = RareParts()
    func add(_ records: [UInt64]) -> Range<Int32> {
      let start = Int32(references.count)
      references += records
      return start..<Int32(references.count)
    }
    for (index, element) in elements.enumerated() {
      let (content, values) = (element.content, element.values)
      var row = StoredRow(element.record, content.kind, form: Int32(index))
      row.hasLastState = content.hasLastState
      (row.parent, row.role) = (element.parent, element.role)
      (row.builtIn, row.state) = (values.builtIn == nil ? 0 : 1, values.state == nil ? 0 : 1)
      row.connections = StoredConnections(
        views: add(content.views), children: add(content.children),
        presented: content.presented ?? 0, referrer: content.referrer ?? 0)
      rows.append(row)
      rare.keptSince[element.record] = content.keptSince
    }
    let names = elements.map {
      SiblingCheck.Name(
        kind: $0.content.kind, parent: $0.parent, identifier: $0.content.identifier,
        index: $0.content.siblingIndex)
    }
    self.init(
      rows, elements.map { StoredForm($0.content) }, references, names, rare,
      paths: elements.map(\.path))
  }
}

extension StoredOutline {
  func path(of index: Int) -> RestorationPath {
    paths.isEmpty ? RestorationPath(of: index, in: names) : paths[index]
  }

  func identifier(of index: Int) -> String { names[index].identifier }

  func siblingIndex(of index: Int) -> Int { names[index].index }

  func form(of index: Int) -> StoredForm { forms[Int(rows[index].form)] }

  /// The records in a range of references.
  func records(_ range: Range<Int32>) -> ArraySlice<UInt64> {
    references[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  /// When the elements were first saved that were not back then, by their records.
  package var keptSince: [UInt64: Date] { rare.keptSince }

  /// Where the states begin that are kept beside that of an element; nil if there are none.
  func kept(_ index: Int) -> UInt32? { rare.kept[rows[index].record] }

  /// The indices of the elements beside whose states others are kept.
  var keptPlaces: [Int] {
    rare.kept.isEmpty ? [] : rows.indices.filter { rare.kept[rows[$0].record] != nil }
  }

  /// The library's part of the record of an element, as it was written.
  func content(of index: Int) -> NodeRecord {
    let row = rows[index]
    let form = form(of: index)
    let connections = row.connections
    var content = NodeRecord(
      row.kind, identifier(of: index), siblingIndex: siblingIndex(of: index),
      className: form.className)
    content.version = form.version
    content.restorationClassName = form.restorationClassName
    content.storyboard = form.storyboard
    content.views = Array(records(connections.views))
    content.children = Array(records(connections.children))
    content.presented = connections.presented == 0 ? nil : connections.presented
    content.hasLastState = row.hasLastState
    content.keptSince = rare.keptSince[row.record]
    content.referrer = connections.referrer == 0 ? nil : connections.referrer
    return content
  }
}
