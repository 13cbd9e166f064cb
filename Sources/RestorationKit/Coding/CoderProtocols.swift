/// What a coder that takes state asks of the walk that it belongs to.
protocol StateEncoding: AnyObject {
  /// The path of an element; empty for the application.
  func path(of number: RowNumber?) -> RestorationPath

  /// The record of what an element refers to; nil if it cannot be, which is noted.
  func reference(
    to object: any StateRestoring, from number: RowNumber?, key: String
  ) -> UInt64?

  func note(_ note: ReportNote, _ number: RowNumber?)

  /// Notes that a coder was used after its call; its path if it was kept.
  func noteKeptCoder(of number: RowNumber?, _ path: RestorationPath?, key: String)
}

/// What a coder that gives back state asks of the restore that it belongs to.
protocol RestoredReferences: AnyObject {
  /// What is back, by the number of its record.
  subscript(record: UInt64) -> (any StateRestoring)? { get }

  /// The same, if it is a node.
  func node(_ record: UInt64) -> (any RestorableNode)?
}
