internal import ArchiveCodec

/// How many older generations of a state are kept beside it.
///
/// A save that writes a state as a whole keeps the file that it replaces, and so does a save
/// whose changes have made the state too long. If the state cannot be read, or restoring it
/// crashed too often, a restore takes the newest generation that can be read. Generations go
/// when the state is discarded.
public struct GenerationBound: Hashable, Sendable {
  /// How many generations stay that were saved by this version of the app.
  public var previousCount: Int

  /// How many generations of other versions of the app stay: the last one of each version.
  ///
  /// A version is what ``ApplicationEnvironment/applicationVersion`` says.
  public var upgradedCount: Int

  /// Creates a bound; by default one and three stay.
  ///
  /// - Parameters:
  ///   - previousCount: How many of this version stay; less than 0 is as 0.
  ///   - upgradedCount: How many of other versions stay; less than 0 is as 0.
  public init(previousCount: Int = 1, upgradedCount: Int = 3) {
    self.previousCount = previousCount
    self.upgradedCount = upgradedCount
  }

  /// Keeps no generations.
  public static let none = GenerationBound(previousCount: 0, upgradedCount: 0)

  func count(of reason: SetAsideReason) -> Int {
    max(0, reason == .upgraded ? upgradedCount : previousCount)
  }

  /// Whether one more generation can be kept beside some, whichever it is.
  func hasRoom(besides generations: [SetAsideArchive]) -> Bool {
    [.previous, .upgraded].allSatisfy { reason in
      generations.count { $0.reason == reason } < count(of: reason)
    }
  }
}
