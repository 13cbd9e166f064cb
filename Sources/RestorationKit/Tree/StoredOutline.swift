#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The facts about a stored element, without its values and without references to objects.
struct StoredRow: Sendable {
  let record: UInt64
  let kind: ElementKind
  let hasLastState: Bool
  var role = StoredTree.Role.root
  /// The place of the parent; less than 0 for a root.
  private var above: Int32 = -1
  /// The index of the form in ``StoredOutline/forms``.
  var form: Int32
  /// The place of the record in the archive.
  let recordPlace: UInt32
  /// The offsets of the two containers in the record, which is less than 2^24 bytes
  /// long; 0 for a container that is missing.
  let builtIn: UInt32
  let state: UInt32
  /// The ranges of views and children in ``StoredOutline/references``.
  private(set) var views: Range<Int32>
  private(set) var children: Range<Int32>
  /// The record of the presented node and of the referrer; 0 if there is none, as no
  /// record has that number.
  let presented: UInt64
  let referrer: UInt64

  var parent: Int? {
    get { above < 0 ? nil : Int(above) }
    set { above = newValue.map { Int32($0) } ?? -1 }
  }

  init(
    record: UInt64, kind: ElementKind, hasLastState: Bool, form: Int32, recordPlace: UInt32,
    builtIn: UInt32, state: UInt32, views: Range<Int32>, children: Range<Int32>,
    presented: UInt64, referrer: UInt64
  ) {
    self.record = record
    self.kind = kind
    self.hasLastState = hasLastState
    self.form = form
    self.recordPlace = recordPlace
    self.builtIn = builtIn
    self.state = state
    self.views = views
    self.children = children
    self.presented = presented
    self.referrer = referrer
  }
}

extension StoredRow {
  /// Moves the ranges, when the references are appended to those of other parts.
  mutating func moveReferences(by distance: Int32) {
    views = views.lowerBound + distance..<views.upperBound + distance
    children = children.lowerBound + distance..<children.upperBound + distance
  }
}

/// The facts that stored elements share: most elements of a class are of one form.
struct StoredForm: Sendable {
  let className: String
  let restorationClassName: String?
  let storyboard: StoryboardReference?
  let version: Int
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
final class StoredOutline: Sendable {
  let rows: [StoredRow]
  let forms: [StoredForm]
  let references: [UInt64]
  private let names: StoredNames
  /// When elements that were not back were first saved so, by their records.
  private let keptSince: [UInt64: Date]
  /// The offsets of the values with a sensitivity in the records of the few elements
  /// that have some, by the places of the elements.
  let sensitive: [Int: UInt32]
  /// The offsets of the kept states in the records, by the places of the elements; none
  /// in a part of a tree.
  let kept: [Int: UInt32]
  /// The paths of the elements in a part of a tree, which does not begin with a root.
  private let paths: [RestorationPath]

  init(
    _ rows: [StoredRow], _ forms: [StoredForm], _ references: [UInt64],
    _ names: [SiblingCheck.Name], keptSince: [UInt64: Date], sensitive: [Int: UInt32] = [:],
    kept: [Int: UInt32] = [:]
  ) {
    self.rows = rows
    self.forms = forms
    self.references = references
    self.names = StoredNames(names)
    self.keptSince = keptSince
    self.sensitive = sensitive
    self.kept = kept
    paths = []
  }

  /// The outline of a part of a tree.
  init(_ elements: [StoredTree.Element]) {
    var rows: [StoredRow] = []
    var forms: [StoredForm] = []
    var references: [UInt64] = []
    for element in elements {
      let content = element.content
      func add(_ records: [UInt64]) -> Range<Int32> {
        let start = Int32(references.count)
        references += records
        return start..<Int32(references.count)
      }
      var row = StoredRow(
        record: element.record, kind: content.kind, hasLastState: content.hasLastState,
        form: Int32(forms.count), recordPlace: 0, builtIn: element.values.builtIn == nil ? 0 : 1,
        state: element.values.state == nil ? 0 : 1, views: add(content.views),
        children: add(content.children), presented: content.presented ?? 0,
        referrer: content.referrer ?? 0)
      (row.parent, row.role) = (element.parent, element.role)
      rows.append(row)
      forms.append(StoredForm(content))
    }
    self.rows = rows
    self.forms = forms
    self.references = references
    names = StoredNames(
      elements.map {
        SiblingCheck.Name(
          kind: $0.content.kind, parent: $0.parent, identifier: $0.content.identifier,
          index: $0.content.siblingIndex)
      })
    keptSince = Dictionary(
      elements.compactMap { element in element.content.keptSince.map { (element.record, $0) } },
      uniquingKeysWith: { first, _ in first })
    sensitive = Dictionary(
      uniqueKeysWithValues: elements.indices.lazy
        .filter { elements[$0].values.sensitive != nil }.map { ($0, 1) })
    kept = [:]
    paths = elements.map(\.path)
  }
}

extension StoredOutline {
  func path(of place: Int) -> RestorationPath {
    paths.isEmpty ? RestorationPath(of: place, in: names) : paths[place]
  }

  func identifier(of place: Int) -> String { names[place].identifier }

  func siblingIndex(of place: Int) -> Int { names[place].index }

  func form(of place: Int) -> StoredForm { forms[Int(rows[place].form)] }

  /// The records in a range of references.
  func records(_ range: Range<Int32>) -> ArraySlice<UInt64> {
    references[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  /// Whether the element was saved as it was stored, since it was not back.
  func isKept(_ place: Int) -> Bool { keptSince[rows[place].record] != nil }

  /// The library's part of the record of an element, as it was written.
  func content(of place: Int) -> NodeRecord {
    let row = rows[place]
    let form = form(of: place)
    var content = NodeRecord(
      row.kind, identifier(of: place), siblingIndex: siblingIndex(of: place),
      className: form.className)
    content.version = form.version
    content.restorationClassName = form.restorationClassName
    content.storyboard = form.storyboard
    content.views = Array(records(row.views))
    content.children = Array(records(row.children))
    content.presented = row.presented == 0 ? nil : row.presented
    content.hasLastState = row.hasLastState
    content.keptSince = keptSince[row.record]
    content.referrer = row.referrer == 0 ? nil : row.referrer
    return content
  }
}
