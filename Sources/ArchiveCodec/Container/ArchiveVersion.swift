/// Which state of an archive this is: a number that grows, and a MAC.
///
/// Keep the last one in a safe place to notice that somebody put back an older
/// file, and pass it on when you replace an archive.
public struct ArchiveVersion: Hashable, Codable, Sendable {
  /// Grows by one with every commit.
  public let generation: UInt64

  /// Depends on the whole history of the file; 32 bytes, not secret.
  public let mac: [UInt8]

  /// Creates a version from values that were kept.
  ///
  /// - Parameters:
  ///   - generation: The number.
  ///   - mac: The 32 bytes that belong to it.
  public init(generation: UInt64, mac: [UInt8]) {
    self.generation = generation
    self.mac = mac
  }
}
