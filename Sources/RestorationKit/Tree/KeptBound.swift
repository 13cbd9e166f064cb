public import RestorationFoundation

/// For how long, and up to what size, saves keep elements that a restore could not bring back.
///
/// An element that is not back counts with all that is kept below it. A state that could
/// not be read counts by itself. Elements over the age go. If the others together have too
/// many bytes, the oldest goes first. The report of the save that drops an element names
/// it with its age and size.
///
/// The age is counted from the first save that kept the element, by the clock of the
/// keeper. A clock that is set back, or was not set yet, drops nothing.
public struct KeptBound: Hashable, Codable, Sendable {
  /// How long an element is kept, in seconds; nil for ever.
  public var age: TimeInterval?

  /// How many bytes of one state are kept; nil for any number.
  public var byteCount: Int?

  /// Creates a bound: by default a year of 365 days, and 8 MiB.
  public init(age: TimeInterval? = 365 * 24 * 60 * 60, byteCount: Int? = 8 << 20) {
    (self.age, self.byteCount) = (age, byteCount)
  }
}
