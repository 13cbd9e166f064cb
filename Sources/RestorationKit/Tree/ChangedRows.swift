internal import Synchronization

/// The rows of one state whose objects have announced a change since they were asked.
///
/// An object may announce a change on any thread.
final class ChangedRows: Sendable {
  /// A struct, since a mutex would ask the Swift runtime to make the type of the set.
  private struct Content {
    var rows: Set<RowNumber> = []
  }

  private let content = Mutex(Content())
  private let signal: ChangeSignal?

  init(_ signal: ChangeSignal?) {
    self.signal = signal
  }

  func insert(_ number: RowNumber) {
    _ = content.withLock { $0.rows.insert(number) }
    signal?.tell()
  }

  var isEmpty: Bool { content.withLock { $0.rows.isEmpty } }

  /// Gives the rows so far, which count as asked from now on.
  func take() -> Set<RowNumber> {
    content.withLock { content in
      guard !content.rows.isEmpty else { return [] }
      defer { content.rows = [] }
      return content.rows
    }
  }
}

/// The objects of all states that say when they change.
enum TrackedObjects {
  private struct Place {
    let changes: ChangedRows
    let number: RowNumber
  }

  /// The rows of each object; most objects belong to one state.
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

  /// Marks the rows of an object in all states that it belongs to.
  static func invalidate(_ object: AnyObject) { invalidate(ObjectIdentifier(object)) }

  /// Marks the rows of an object by its address.
  ///
  /// If the object is gone, another one at that address is asked once too
  /// often, which does no harm.
  static func invalidate(_ object: ObjectIdentifier) {
    let found = places.withLock { $0[object] ?? [] }
    for place in found { place.changes.insert(place.number) }
  }
}
