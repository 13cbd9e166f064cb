internal import ArchiveCodec

/// The record of an object that waits until it is decided what is kept in and below the object.
struct DeferredRecord {
  let object: any StateRestoring
  let number: RowNumber
  let info: TypeInfo
  let origin: PreservationWalk.Origin
  /// What the object says, as a record without the library's part, or why it cannot; nil if it says
  /// the same as when the restore had ended.
  var said: Result<KeyedDecoder, any Error>?
  /// The states that are kept of the object; nil if none were.
  var states: KeptRecords.State?
  /// One item for each kept state whose time is not over.
  var items: [KeptItem] = []

  /// The states that are kept beside the state of the record.
  var beside: [KeptState] {
    var beside = (states?.beside ?? []).map(\.state)
    if states?.withheld == nil, !beside.isEmpty { beside[0].leftOut = states?.leftOut }
    return beside
  }

  /// Keeps the state that the record has beside the state that the object says.
  mutating func putBeside() {
    if let replaced = states?.putBeside() { items.removeAll { $0.id == replaced } }
  }
}
