internal import ArchiveCodec

/// The record of an object that waits until it is decided what is kept in and below the object.
struct DeferredRecord {
  /// The answer of the object.
  enum Said {
    /// The record of the object without the library's part.
    case state(KeyedDecoder)
    case failed(any Error)
    /// The object says the same as when the restore had ended.
    case asBefore
    /// Nobody has asked the object, since there is no room for its state.
    case nothing
  }

  let object: any StateRestoring
  let number: RowNumber
  let info: TypeInfo
  let origin: PreservationWalk.Origin
  var said = Said.nothing
  /// The states that are kept of the object; nil if none were.
  var states: KeptRecords.State?
  /// One item for each kept state whose time is not over.
  var items: [KeptItem] = []

  var keepsNothing: Bool { states?.isEmpty ?? true }

  /// Whether the object must be asked after all: the stored state that would have stayed, since the
  /// object said nothing else, is not kept.
  var isUnasked: Bool {
    guard case .asBefore = said else { return false }
    return states?.withheld == nil
  }

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
