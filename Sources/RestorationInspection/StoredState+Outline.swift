public import ArchiveCodec
public import RestorationKit
public import RestorationFoundation

extension StoredState {
  /// One element of a stored state, without its values.
  public struct Element: Hashable, Sendable {
    /// The number of the element's record.
    public let record: UInt64

    /// The kind of the element.
    public let kind: ElementKind

    /// The part that the element has for the one above it.
    public let role: Role

    /// Where the element is; for an unplaced element, the part of the path that is known.
    public let path: RestorationPath

    /// The name of the element's class.
    public let className: String

    /// The name of the class that makes the element; nil if none was named.
    public let restorationClassName: String?

    /// The version of the element's state.
    public let version: Int

    /// The size of the element's record in bytes.
    public let byteCount: Int

    /// When a save first kept the element because it was not back; nil if it is not kept.
    public let keptSince: Date?

    /// Whether the state of the element is from an earlier save, because a later one
    /// could not be encoded.
    public let hasLastState: Bool
  }

  /// The relation of an element to the element above.
  ///
  /// More roles may come; handle unknown ones.
  public enum Role: String, Hashable, Codable, Sendable {
    /// The element is a root.
    case root
    /// The element above contains it.
    case child
    /// The element is a view of the one above.
    case view
    /// The element above presents it.
    case presented
    /// Other elements only refer to it.
    case referred
    /// The element above cannot be read, or does not name this one.
    case unplaced

    init(_ role: StoredTree.Role) {
      self =
        switch role {
        case .root: .root
        case .child: .child
        case .view: .view
        case .presented: .presented
        case .referred: .referred
        case .stray: .unplaced
        }
    }
  }

  /// A record that cannot be used, and why.
  public struct Problem: Hashable, Sendable {
    /// The number of the record.
    public let record: UInt64

    /// The error that the record was read with.
    public let error: ArchiveError
  }

  /// The elements of a state in the order of the tree.
  ///
  /// An outline takes about 50 bytes for each element, and its identifier. The values
  /// are not in memory.
  public struct Outline: Sendable {
    /// The first damage of the file; nil if every byte is as it was sealed.
    public let damage: ArchiveError?

    /// The records that cannot be used; no more than a hundred of them.
    public let problems: [Problem]

    /// How many records cannot be used.
    public let problemCount: Int

    /// The size of the record of the application in bytes.
    public let applicationByteCount: Int

    /// The facts about an element that each has for itself, in few bytes.
    private struct Row {
      let record: UInt64
      let form: Int32
      let byteCount: UInt32
      let kind: ElementKind
      let role: Role
      let hasLastState: Bool
    }

    private let rows: [Row]
    private let forms: [StoredForm]
    private let names: StoredNames
    private let keptSince: [UInt64: Date]
    /// The indices of the elements by their records.
    private let indices: RecordPlaces

    /// How many elements there are.
    public var count: Int { rows.count }

    /// Gives the elements their places.
    init(_ records: consuming StateRecords, damage: ArchiveError?) {
      let placed = records.elements.place(records.roots)
      // Damage and an unreadable tree explain elements without a place.
      if damage == nil, !records.isTreeUnreadable {
        records.note(placed.strays, PlacedRecords.strayError)
      }
      records.note(placed.duplicates, PlacedRecords.duplicateError)
      self.damage = damage
      (problems, problemCount) = (records.problems, records.problemCount)
      applicationByteCount = records.applicationByteCount
      let (outline, byteCounts) = (placed.outline, records.byteCounts)
      rows = outline.rows.map { row in
        Row(
          record: row.record, form: row.form, byteCount: byteCounts[Int(row.recordPlace)],
          kind: row.kind, role: Role(row.role), hasLastState: row.hasLastState)
      }
      (forms, names, keptSince) = (outline.forms, outline.names, outline.keptSince)
      var indices = RecordPlaces(count: rows.count)
      for (index, row) in rows.enumerated() { indices[row.record] = index }
      self.indices = indices
    }

    /// Gives the elements: each after its parent and after its elder siblings.
    ///
    /// Unplaced elements come last. A path that is kept keeps the identifiers of all elements.
    ///
    /// - Parameter body: Takes an element; an error of it ends the iteration.
    /// - Complexity: O(*n*) in the number of elements.
    public func forEach(_ body: (Element) throws -> Void) rethrows {
      for index in 0..<count { try body(element(at: index)) }
    }

    /// The element of a record; nil if there is none that can be read.
    ///
    /// - Parameter record: The number of the record.
    /// - Returns: The element.
    /// - Complexity: O(1) on average.
    public func element(ofRecord record: UInt64) -> Element? {
      indices[record].map { element(at: $0) }
    }

    private func element(at index: Int) -> Element {
      let row = rows[index]
      let form = forms[Int(row.form)]
      return Element(
        record: row.record, kind: row.kind, role: row.role,
        path: RestorationPath(of: index, in: names), className: form.className,
        restorationClassName: form.restorationClassName, version: form.version,
        byteCount: Int(row.byteCount),
        keptSince: keptSince.isEmpty ? nil : keptSince[row.record],
        hasLastState: row.hasLastState)
    }
  }

  /// Reads the elements, and checks every byte on the way.
  ///
  /// Damage ends nothing: readable elements are there, and the rest is among the
  /// problems. If the record that names the roots is among them, no element has a place.
  ///
  /// - Parameter progress: Called now and then with the number of records that have
  ///   been read.
  /// - Returns: The elements.
  /// - Throws: The errors of `progress`.
  /// - Complexity: O(*n* log *n*) in the records, O(*m*) in the bytes; memory for one
  ///   chunk or record and, during the reading, about 220 bytes for each record and its
  ///   identifier.
  public func outline(
    progress: ((_ recordCount: Int) throws -> Void)? = nil
  ) throws -> Outline {
    var records = StateRecords(of: archive)
    var count = 0
    let damage = try archive.salvage { record in
      records.take(record)
      count += 1
      if count.isMultiple(of: 1 << 12) { try progress?(count) }
    }
    return Outline(records, damage: damage)
  }
}
