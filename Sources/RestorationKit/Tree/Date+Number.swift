package import RestorationFoundation

extension Date {
  /// The date; nil if it is no number, as one that an app or a file gives may be.
  ///
  /// The system ends the process that describes such a date, and it is neither before nor after any other.
  package var ifNumber: Date? { timeIntervalSinceReferenceDate.isNaN ? nil : self }
}
