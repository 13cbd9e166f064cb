internal import ArchiveCodec

/// What a coder that takes state asks of the walk that it belongs to.
protocol StateEncoding: AnyObject {
  /// The path of an element; empty for the application.
  func path(of number: RowNumber?) -> RestorationPath

  /// The record of what an element refers to; nil if it cannot be, which is noted.
  func reference(
    to object: any StateRestoring, from number: RowNumber?, key: String
  ) -> UInt64?

  func note(_ note: ReportNote, _ number: RowNumber?)

  /// Lets an object of the library's own be referred to.
  func register(_ object: any RestorableObject, identifier: String)

  /// Notes that a coder was used after its call; its path if it was kept.
  func noteKeptCoder(of number: RowNumber?, _ path: RestorationPath?, key: String)
}

/// What a coder that gives back state asks of the restore that it belongs to.
protocol RestoredReferences: AnyObject {
  /// What is back, by the number of its record.
  subscript(record: UInt64) -> (any StateRestoring)? { get }

  /// The same, if it is a node.
  func node(_ record: UInt64) -> (any RestorableNode)?

  /// Notes that a state is not in all fields what is stored of an element.
  func note(_ fields: MendedFields, at place: Int)

  /// Where an element is, by its place in the stored tree.
  func path(at place: Int) -> RestorationPath

  /// What is stored of an element; nil if there is nothing.
  func state(at place: Int) -> KeyedDecoder?

  /// What the library stored of it.
  func builtIn(at place: Int) -> KeyedDecoder?

  /// What it contained and is back, in saved order.
  func children(at place: Int) -> [any RestorableNode]

  /// What it presented, if that is back.
  func presented(at place: Int) -> (any RestorableNode)?
}
