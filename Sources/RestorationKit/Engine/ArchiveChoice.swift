package import ArchiveCodec

/// Decides which of the archives of a state is read: the newest one that can be.
///
/// The archives are looked at one by one, from the state to its oldest generation.
package struct ArchiveChoice: Hashable, Sendable {
  /// The finding at the location of an archive.
  package enum Finding: Hashable, Sendable {
    /// The archive can be read. A part that is missing at its end was never said to be
    /// stored, or is reported.
    case readable
    case missing
    /// Restores of the archive crashed too often, so it has been set aside.
    case crashed
    /// The archive cannot be read.
    case unreadable(ArchiveError)
  }

  /// The archives that are passed over, with the reason.
  package private(set) var passedOver: [RestorationReport.PassedOver] = []
  /// Why the newest archive that is there cannot be read.
  private var failure: ArchiveError?
  private var hasCrashed = false

  package init() {}

  /// Decides whether an archive is the one to read.
  ///
  /// A missing, empty or damaged archive is passed over.
  ///
  /// - Parameters:
  ///   - finding: The finding at the location of the archive.
  ///   - location: Where the archive is.
  /// - Returns: Whether the archive is chosen; if not, the next older one is looked at.
  /// - Throws: A failure on the way to the archive. The failure may pass, so no older archive takes
  ///   the place of this one.
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

  /// Ends the search where no archive was chosen.
  ///
  /// - Throws: Why the newest archive that is there cannot be read. If restores of an archive
  ///   crashed too often, nothing: the outcome says that instead.
  package func endWithoutAny() throws(ArchiveError) {
    if let failure, !hasCrashed { throw failure }
  }
}
