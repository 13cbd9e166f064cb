/// The sizes that an archive may have, for writing and for reading.
///
/// Each limit is checked before memory is taken for a value. A value over a limit
/// throws an ``ArchiveError`` with the code `limitExceeded`. So does a value whose
/// decoding would take more memory than 64 MiB and four times the bytes of its record.
public struct ArchiveLimits: Hashable, Sendable {
  /// The bytes of one record; at most 16 MiB − 1, which the format can address.
  public let recordByteCount: Int

  /// The bytes of one string or byte sequence.
  public let stringByteCount: Int

  /// The UTF-8 bytes of one key.
  public let keyByteCount = 1 << 10

  /// How deep containers may be nested in one record.
  public let depth: Int

  /// How many calls of `encode(to:)` or `init(from:)` may be open at once.
  ///
  /// A wrapper adds a call and no container, so there may be more calls than
  /// containers. Encoding and decoding have the same limit.
  var callLimit: Int { depth * 4 }

  /// The number of different keys that get a short form in one archive.
  public package(set) var symbolCount = 1 << 16

  /// The UTF-8 bytes of all keys that get a short form.
  public let symbolByteCount = 1 << 20

  /// The bytes of the footer.
  public let footerByteCount = 1 << 20

  /// The commits of one file: the snapshot and the changes after it.
  ///
  /// A writer rewrites a file that has half as many.
  package var commitCount = 1 << 16

  /// The most that one try of a passphrase may cost, in memory and in work,
  /// which is passes times memory.
  ///
  /// Anybody can write the cost into a slot, even without a key, so a reader has a
  /// limit of its own. A slot that costs more is left out; if no other slot opens, the
  /// error is `limitExceeded`. At most two slots are tried, so opening costs at most
  /// twice this limit.
  public let passphraseCost: PassphraseCost

  /// The bytes of memory that decoding one value may take, besides four times
  /// the bytes of its record.
  static let decodedByteCount = 1 << 26

  /// Creates limits; none can exceed the limits of the format.
  ///
  /// - Parameters:
  ///   - recordByteCount: The bytes of one record.
  ///   - stringByteCount: The bytes of one string or byte sequence.
  ///   - depth: How deep containers may be nested.
  ///   - passphraseCost: The most that one try of a passphrase may cost.
  public init(
    recordByteCount: Int = 1 << 24 - 1, stringByteCount: Int = 1 << 24 - 1, depth: Int = 128,
    passphraseCost: PassphraseCost = .moderate
  ) {
    self.recordByteCount = min(max(recordByteCount, 64), 1 << 24 - 1)
    self.stringByteCount = min(max(stringByteCount, 0), 1 << 24 - 1)
    self.depth = min(max(depth, 1), 128)
    self.passphraseCost = passphraseCost
  }

  /// The limits of the format, and ``PassphraseCost/moderate`` for one try of a
  /// passphrase.
  public static let standard = ArchiveLimits()
}
