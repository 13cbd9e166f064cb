/// The objects that say when they change, or that saves ask without asking the objects above them.
struct HeardObjects {
  struct WeakObject {
    weak var object: (any StateRestoring)?
  }

  let changes: ChangedRows
  /// How many objects say when they change.
  var trackedCount = 0
  /// The held objects, by the places of their rows.
  var objects: [WeakObject] = []
  /// The rows that each save asks although it does not ask the rows above them.
  ///
  /// A row that has gone stays in the list until the next save of changes removes it.
  var entries: [RowNumber] = []
  /// The rows that have said that they changed before this save, or in it.
  var changed: Set<RowNumber> = []
  /// The rows of a save that was not stored, whose objects go on saying when they change.
  var before: Rows?
  /// The hashes of what objects said last, with which a poll compares; nil if nobody polls.
  var said: LastSaid?

  init(_ changes: ChangedRows) { self.changes = changes }

  /// The object of a row that was held, if it is still there.
  func object(of number: RowNumber) -> (any StateRestoring)? {
    number.place < objects.count ? objects[number.place].object : nil
  }
}
