package import ArchiveCodec

/// Decides which of the archives of a state is read: the newest one that can be.
///
/// They are looked at one by one, from the state to its oldest generation.
package struct ArchiveChoice: Hashable, Sendable {
  /// What is found where an archive may be.
  package enum Finding: Hashable, Sendable {
    /// It can be read; what is missing at its end was never said to be stored, or is reported.
    case readable
    case missing
    /// Restores of it crashed too often, so it has been set aside.
    case crashed
    /// It cannot be read.
    case unreadable(ArchiveError)
  }

  /// Those that are passed over, with the reason.
  package private(set) var passedOver: [RestorationReport.PassedOver] = []
  /// Why the newest one cannot be read that is there.
  private var failure: ArchiveError?
  private var hasCrashed = false

  package init() {}

  /// Decides whether an archive is the one to read.
  ///
  /// What is missing, empty or damaged is passed over.
  ///
  /// - Parameters:
  ///   - finding: What is found of the archive.
  ///   - location: Where.
  /// - Returns: Whether it is chosen; if not, the next older one is looked at.
  /// - Throws: A failure on the way to the archive: it may pass, so no older one takes its place.
  package mutating func take(
    _ finding: Finding, at location: String
  ) throws(ArchiveError) -> Bool {
    let reason: RestorationReport.PassedOver.Reason
    switch finding {
    case .readable: return true
    case .missing: reason = .missing
    case .crashed:
      reason = .crashed
      hasCrashed = true
    case .unreadable(let error):
      guard error.isAboutContent else { throw error }
      reason = .unreadable(error.facts)
      failure = failure ?? error
    }
    passedOver.append(RestorationReport.PassedOver(location: location, reason: reason))
    return false
  }

  /// Ends the search where none was chosen.
  ///
  /// - Throws: Why the newest one that is there cannot be read; nothing if one of them crashed
  ///   too often, which is said instead.
  package func endWithoutAny() throws(ArchiveError) {
    if let failure, !hasCrashed { throw failure }
  }
}
