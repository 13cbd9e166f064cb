/// The cost of one try of a passphrase, for its owner and for an attacker who guesses.
///
/// Opening with the right passphrase costs one try, and so does every guess. The cost
/// is stored in the archive, where anybody can read it.
public struct PassphraseCost: Hashable, Sendable {
  /// How often the memory is filled; the time grows with the passes.
  public let passes: Int

  /// The memory that a try needs, in KiB; the time grows with the memory, too.
  public let kibibytes: Int

  /// The passes that are allowed.
  public static let passesAllowed = 1...16

  /// The memory that is allowed, in KiB: 8 KiB to 256 MiB.
  public static let kibibytesAllowed = 8...256 << 10

  /// 64 MiB twice, about 60 ms: for a user who must not feel the wait.
  public static let interactive = PassphraseCost(2, 64 << 10)

  /// 256 MiB three times, about half a second: for everything else.
  public static let moderate = PassphraseCost(3, 256 << 10)

  private init(_ passes: Int, _ kibibytes: Int) {
    self.passes = passes
    self.kibibytes = kibibytes
  }

  /// Creates a cost of your own.
  ///
  /// A lower cost than ``interactive`` is right only for tests, and for a
  /// passphrase that is itself random. An archive with a higher cost than
  /// ``moderate`` opens only if ``ArchiveLimits/passphraseCost`` is raised.
  ///
  /// - Parameters:
  ///   - passes: How often the memory is filled.
  ///   - kibibytes: The memory in KiB.
  /// - Throws: ``ArchiveError`` with `limitExceeded` outside of
  ///   ``passesAllowed`` and ``kibibytesAllowed``.
  public init(passes: Int, kibibytes: Int) throws(ArchiveError) {
    guard Self.passesAllowed.contains(passes), Self.kibibytesAllowed.contains(kibibytes) else {
      throw ArchiveError(.limitExceeded, subject: "cost of a passphrase")
    }
    self.init(passes, kibibytes)
  }

  /// Whether a try takes no more memory, and no more time.
  func isAtMost(_ limit: PassphraseCost) -> Bool {
    kibibytes <= limit.kibibytes && passes * kibibytes <= limit.passes * limit.kibibytes
  }
}
