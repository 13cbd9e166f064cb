internal import Synchronization

/// The rows of one state whose objects have said that they changed since they were
/// asked.
///
/// Whoever says so may be on any thread.
final class ChangedRows: Sendable {
  private struct Content {
    var rows: [RowNumber] = []
    var isMarked: Set<RowNumber> = []
  }

  private let content = Mutex(Content())
  private let need: SaveNeed?

  init(_ need: SaveNeed?) {
    self.need = need
  }

  func insert(_ number: RowNumber) {
    content.withLock { content in
      if content.isMarked.insert(number).inserted { content.rows.append(number) }
    }
    need?.tell()
  }

  var isEmpty: Bool { content.withLock { $0.rows.isEmpty } }

  /// The rows so far; from now on they count as asked.
  func take() -> [RowNumber] {
    content.withLock { content in
      guard !content.rows.isEmpty else { return [] }
      defer { content = Content() }
      return content.rows
    }
  }
}

/// The objects that say when they change, of all states.
enum TrackedObjects {
  private struct Place {
    let changes: ChangedRows
    let number: RowNumber
  }

  /// Most objects belong to one state.
  private static let places = Mutex<[ObjectIdentifier: [Place]]>([:])

  /// Lets an object mark its row.
  static func add(_ object: ObjectIdentifier, _ number: RowNumber, _ changes: ChangedRows) {
    places.withLock { $0[object, default: []].append(Place(changes: changes, number: number)) }
  }

  /// Forgets objects of one state.
  static func remove(_ objects: some Sequence<ObjectIdentifier>, _ changes: ChangedRows) {
    places.withLock { places in
      for object in objects {
        places[object]?.removeAll { $0.changes === changes }
        if places[object]?.isEmpty == true { places[object] = nil }
      }
    }
  }

  /// Marks the rows of an object, whatever states it belongs to.
  static func invalidate(_ object: AnyObject) { invalidate(ObjectIdentifier(object)) }

  /// The same for an object that is alive; of another one at its address it is a change too many.
  static func invalidate(_ object: ObjectIdentifier) {
    let found = places.withLock { $0[object] ?? [] }
    for place in found { place.changes.insert(place.number) }
  }
}
