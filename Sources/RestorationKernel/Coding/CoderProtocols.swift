internal import ArchiveCodec

/// The questions of a ``StateEncoder`` to the walk that it belongs to.
protocol StateEncoding: AnyObject {
  /// The path of an element; empty for the application.
  func path(of slot: Int32) -> RestorationPath

  /// The record of a referenced object; nil, with a note, if it cannot be referred to.
  func reference(to object: any StateRestoring, from referrer: Int32, key: String) -> UInt64?

  func note(_ note: ReportNote, _ slot: Int32)
}

/// The questions of a ``StateDecoder`` to the restore that it belongs to.
protocol RestoredReferences: AnyObject {
  /// The restored object of a record; nil if it is not back.
  subscript(record: UInt64) -> (any StateRestoring)? { get }

  /// Notes the fields of an element that were not restored as they are stored.
  func note(_ fields: MendedFields, at place: Int)

  /// The path of an element, by its place in the stored tree.
  func path(at place: Int) -> RestorationPath

  /// The app's values of an element; nil if none are stored.
  func state(at place: Int) -> KeyedDecoder?

  /// The values that the library itself stored of an element.
  func builtIn(at place: Int) -> KeyedDecoder?

  /// The nodes that an element contained and that are back, in saved order.
  func children(at place: Int) -> [any RestorableNode]

  /// The node that an element presented, if it is back.
  func presented(at place: Int) -> (any RestorableNode)?
}
