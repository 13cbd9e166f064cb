public import ArchiveCodec
public import RestorationKit
public import RestorationFoundation

extension StoredState {
  /// One element of a stored state, without its values.
  public struct Element: Hashable, Sendable {
    /// The number of the element for as long as it is stored, which references name.
    public let identifier: UInt64

    /// The number of the record with the element's values.
    public let record: UInt64

    /// The kind of the element: `node`, `view`, `object` or `scene`.
    public let kind: String

    /// The part that the element has for the one above it.
    public let role: Role

    /// Where the element is; of one in a window with the window first.
    public let path: RestorationPath

    /// The name of the element's class.
    public let className: String

    /// The name of the class that makes the element; nil if none was named.
    public let restorationClassName: String?

    /// The version of the element's state.
    public let version: Int

    /// The size of the element's record in bytes; 0 if it was saved without state.
    public let byteCount: Int

    /// Why saves keep the element though it is not back; nil if they do not.
    public let kept: Kept?

    /// The states beside that of the element, the oldest one first: those that its object could not
    /// read, and those that others have replaced before they were read.
    public let unread: [Kept]
  }

  /// The relation of an element to the element above.
  ///
  /// More roles may come; handle unknown ones.
  public enum Role: String, Hashable, Codable, Sendable {
    // Named as those of the library, but for the first one.
    /// The element is a root of the app.
    case root
    /// The element above contains it.
    case child
    /// The element above presents it.
    case presented
    /// The element is a view of the one above.
    case view
    /// The element is a registered object, below the one that scopes it.
    case object
    /// Other elements only refer to it; the first of them is the one above.
    case referred
    /// The element is a window.
    case scene
  }

  /// An element that no object has taken, or a state that no object has read.
  public struct Kept: Hashable, Sendable {
    /// Why it stays, in a word: `notFound`, `unknownClass`, `factoryThrew`, `newerVersion`,
    /// `migrationFailed`, `leftOut` after crashes, `decodeThrew`, `otherClass`, `fieldReplaced`,
    /// or `replaced` by what was late.
    ///
    /// More words may come.
    public let reason: String

    /// When a save first kept it; nil if that is not known.
    public let since: Date?

    /// The number of the record with the values.
    public let record: UInt64

    /// The name of the class whose object has written them.
    public let className: String

    /// The version of the state.
    public let version: Int

    /// The size of the record in bytes.
    public let byteCount: Int
  }

  /// A value with `@Restored`, of the app or of a window.
  public struct Value: Hashable, Sendable {
    /// The number of the record, which has the value under the key `value`.
    public let record: UInt64

    /// The key of the value.
    public let key: String

    /// The name of the window; nil for a value of the app.
    public let window: String?

    /// The size of the record in bytes.
    public let byteCount: Int

    /// Whether the value did not fit its type when the app has set another one, and stays beside that.
    public fileprivate(set) var isUnread = false
  }

  /// A record that cannot be used, and why.
  public struct Problem: Hashable, Sendable {
    /// The number of the record.
    public let record: UInt64

    /// The error that the record was read with; `malformed` for one that belongs to no element.
    public let error: ArchiveError
  }

  /// Reads the elements, and checks every byte on the way.
  ///
  /// Damage ends nothing: readable elements are there, and the rest is among the
  /// problems. An element is not there if nobody can read what it is below.
  ///
  /// - Parameter progress: Called now and then with the number of records that have
  ///   been read.
  /// - Returns: The elements.
  /// - Throws: The errors of `progress`, and `cryptographyUnavailable`.
  /// - Complexity: O(*n* log *n*) in the records, O(*m*) in the bytes; memory for one
  ///   chunk or record, and about 300 bytes for each record and its identifier.
  public func outline(
    progress: ((_ recordCount: Int) throws -> Void)? = nil
  ) throws -> Outline {
    try Outline(of: archive, progress)
  }

  /// The elements of a state in the order of the tree, without their values.
  public struct Outline: Sendable {
    /// The first damage of the file; nil if every byte is as it was sealed.
    public private(set) var damage: ArchiveError?

    /// Why a restore takes nothing of the state; nil if it does.
    public private(set) var failure: ArchiveError?

    /// The records that cannot be used; no more than a hundred of them.
    public private(set) var problems: [Problem] = []

    /// How many records cannot be used.
    public private(set) var problemCount = 0

    /// The size of the record of the application in bytes.
    public var applicationByteCount: Int { byteCounts[applicationRecord] ?? 0 }

    /// The values of the app and of its windows, by windows and keys; of equal keys the unread one comes
    /// first.
    public private(set) var values: [Value] = []

    /// How many elements there are.
    public var count: Int { order.count }

    private(set) var document = Document()
    private(set) var byteCounts: [UInt64: Int] = [:]
    private var order: [Int32] = []
    private var slots: [UInt64: Int32] = [:]

    /// A hostile archive could have as many problems as records.
    private static let largestProblemCount = 100

    /// Reads the document from an archive in memory, with the readable records of the structure, and an
    /// empty one for each body: a part of the state may be damaged, and its bodies may be large.
    fileprivate init(of archive: Archive, _ progress: ((Int) throws -> Void)?) throws {
      let (memory, key, context) = (MemoryStorage(), try ArchiveKey(), ArchiveContext([]))
      let builder = RecordBuilder()
      damage = try archive.salvage { record in
        try take(record, builder)
        if byteCounts.count.isMultiple(of: 1 << 12) { try progress?(byteCounts.count) }
      }
      failure = damage
      values.sort { ($0.window ?? "", $0.key, $0.record) < ($1.window ?? "", $1.key, $1.record) }
      for (place, next) in values.enumerated().dropFirst() {
        let value = values[place - 1]
        values[place - 1].isUnread = (value.window, value.key) == (next.window, next.key)
      }
      guard !byteCounts.isEmpty else { return }
      _ = try Archive.write(try builder.finish(), to: memory, key: key, context: context)
      guard let copy = try Archive.open(memory, key: key, context: context) else { return }
      do throws(ArchiveError) {
        document = try Document(StoredRecords(copy))
        order = Array(document.walk(from: Document.tree).dropFirst())
        for slot in order { slots[document[slot].id] = slot }
        noteStrays()
      } catch {
        failure = failure ?? error
        if !problems.contains(where: { $0.record == TreeRecord.forms }) {
          note([TreeRecord.forms], error)
        }
      }
    }

    private mutating func take(_ record: Archive.Record, _ builder: RecordBuilder) throws {
      let number = record.identifier
      guard byteCounts.updateValue(record.byteCount, forKey: number) == nil else { return }
      if TreeRecord.isOfValue(number) {
        do throws(ArchiveError) {
          let content = try record.content.get()
          return values.append(
            Value(
              record: number, key: try content.decode(forKey: "key"),
              window: try content.decodeIfPresent(forKey: "window"), byteCount: record.byteCount))
        } catch {
          return note([number], error)
        }
      }
      let isOfStructure = TreeRecord.isOfStructure(number)
      if case .failure(let error) = record.content {
        note([number], error)
        // Once is enough: nobody need say that it belongs to no element.
        if isOfStructure { byteCounts[number] = nil }
      }
      if !isOfStructure {
        try builder.append(record: number) { _ in }
      } else if case .success(let content) = record.content {
        try builder.append(record: number) { try $0.copyAll(from: content) }
      }
    }

    /// Notes the records that can be read, and belong to no element that is there.
    private mutating func noteStrays() {
      var known: Set<UInt64> = [TreeRecord.forms, TreeRecord.compactionDue, applicationRecord]
      let isWhole = document.leftovers != nil
      if isWhole || !document.kept.isEmpty { known.insert(TreeRecord.kept) }
      for element in document.elements {
        known.insert(element.bodyRecord)
        if isWhole || !element.children.isEmpty { known.insert(element.contentsRecord) }
      }
      known.formUnion(document.kept.bodies.values.joined().map(\.record))
      known.formUnion(values.map(\.record))
      known.formUnion(problems.map(\.record))
      note(
        byteCounts.keys.filter { !known.contains($0) }.sorted(),
        ArchiveError(.malformed, subject: "not in the tree"))
    }

    private mutating func note(_ records: [UInt64], _ error: ArchiveError) {
      problemCount += records.count
      problems += records.prefix(Self.largestProblemCount - problems.count)
        .map { Problem(record: $0, error: error) }
    }

    /// Gives the elements in the order of a restore: each after its parent and after its elder
    /// siblings, and those that only references reach after all others.
    ///
    /// A path that is kept keeps the identifiers of all elements.
    ///
    /// - Parameter body: Takes an element; an error of it ends the iteration.
    /// - Complexity: O(*n*) in the number of elements.
    public func forEach(_ body: (Element) throws -> Void) rethrows {
      let paths = StoredPaths(document, namingWindows: true)
      for slot in order { try body(element(at: slot, paths)) }
    }

    /// The element of a number; nil if there is none.
    ///
    /// - Parameter identifier: The number of the element, as a reference has it.
    /// - Returns: The element.
    /// - Complexity: O(*d*) in the number of elements above it.
    public func element(withIdentifier identifier: UInt64) -> Element? {
      slots[identifier].map { element(at: $0, StoredPaths(document, namingWindows: true)) }
    }

    /// The element whose values are in a record; nil if there is none.
    ///
    /// - Parameter record: The number of the record.
    /// - Returns: The element.
    /// - Complexity: O(*d*) in the number of elements above it.
    public func element(ofRecord record: UInt64) -> Element? {
      record.isMultiple(of: 2) ? element(withIdentifier: record / 2) : nil
    }

    func element(at slot: Int32, _ paths: StoredPaths) -> Element {
      let (element, place) = (document[slot], document[slot].place)
      let (form, isRoot) = (document.form(of: slot), place.parent == Document.tree)
      func kept(_ part: RestorationKit.Kept, _ record: UInt64, _ form: Form) -> Kept {
        Kept(
          reason: "\(part.reason)", since: part.since, record: record, className: form.className,
          version: form.version, byteCount: byteCounts[record] ?? 0)
      }
      return Element(
        identifier: element.id, record: element.bodyRecord, kind: place.role.kind.rawValue,
        role: isRoot && place.role == .child ? .root : Role(rawValue: "\(place.role)") ?? .child,
        path: paths[slot], className: form.className,
        restorationClassName: form.restorationClassName, version: form.version,
        byteCount: byteCounts[element.bodyRecord] ?? 0,
        kept: document.kept.elements[slot].map { kept($0, element.bodyRecord, form) },
        unread: (document.kept.bodies[slot] ?? []).map {
          kept($0, $0.record, document.head.forms[Int($0.form)])
        })
    }
  }
}
