public import RestorationFoundation

/// An element that a restore could not bring back, and that saves keep as it is stored.
public struct KeptElement: Hashable, Sendable {
  /// The kind of the element.
  public let kind: ElementKind

  /// Where the element was.
  public let path: RestorationPath

  /// The name of the element's class, as it was saved.
  public let className: String

  /// The outcome of the element in the restore.
  public let reason: RestorationReport.NodeOutcome

  /// Whether only the state is kept: the element itself is back, but its state could not be read.
  public let isStateAlone: Bool

  /// When a save kept the element for the first time; nil if none has yet.
  public let since: Date?

  /// The size of the element's records in bytes, with all that is kept below it.
  public let byteCount: Int
}
