internal import ArchiveCodec
public import RestorationFoundation

/// What tells one content from another: a version that somebody counts, or a hash of its bytes.
///
/// A draft of what is no file, such as a row or a document of a server, is stored with the stamp of what
/// it was made from. A stamp takes few bytes, and two of them are compared with ``isSame(as:)``.
public struct ContentStamp: Hashable, Codable, Sendable {
  enum Form: Hashable, Sendable {
    case version(String)
    /// BLAKE2b of the bytes, in 32 bytes, as `b2sum -l 256` has it.
    case hash(Data, byteCount: Int)
    /// A stamp of a later version of the library, or of none.
    case unknown
  }

  let form: Form

  init(_ form: Form) {
    self.form = form
  }

  /// Creates the stamp of a content that has a version, such as a revision, an ETag or a row version.
  ///
  /// - Parameter version: The version; no other content of the same thing has it.
  public init(version: String) {
    self.init(.version(version))
  }

  /// Creates the stamp of a content by its bytes.
  ///
  /// - Parameter bytes: All of the bytes, as `Data` or `[UInt8]`.
  /// - Throws: ``DraftError`` with `unreadable` if libsodium cannot be started.
  /// - Complexity: O(*n*) in the bytes.
  public init(hashing bytes: some ContiguousBytes) throws(DraftError) {
    do {
      self = try unsafe bytes.withUnsafeBytes { bytes in
        let hash = try ContentHash()
        unsafe hash.append(bytes)
        return ContentStamp(.hash(Data(hash.finish()), byteCount: bytes.count))
      }
    } catch {
      throw DraftError(.unreadable, "The content cannot be hashed. (\(error))")
    }
  }

  /// Whether both stamps are of the same content.
  ///
  /// - Parameter other: A stamp that was made in the same way.
  /// - Returns: Nil if nobody can tell: one of them is of a later version of the library, or one has a
  ///   version and the other one a hash. Treat that as another content.
  public func isSame(as other: ContentStamp) -> Bool? {
    switch (form, other.form) {
    case (.version, .version), (.hash, .hash): form == other.form
    default: nil
    }
  }
}

extension ContentStamp {
  private enum Key: String, CodingKey {
    case version, hash, byteCount
  }

  /// Writes the version, or the hash and the number of bytes.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    switch form {
    case .version(let version): try values.encode(version, forKey: .version)
    case .hash(let hash, let byteCount):
      try values.encode(hash, forKey: .hash)
      try values.encode(byteCount, forKey: .byteCount)
    case .unknown: break
    }
  }

  /// Reads a stamp; one that this version does not know is the same as no other.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    if let version = try values.decodeIfPresent(String.self, forKey: .version) {
      self.init(.version(version))
    } else if let hash = try values.decodeIfPresent(Data.self, forKey: .hash),
      let byteCount = try values.decodeIfPresent(Int.self, forKey: .byteCount),
      hash.count == ContentHash.byteCount, byteCount >= 0
    {
      self.init(.hash(hash, byteCount: byteCount))
    } else {
      self.init(.unknown)
    }
  }
}

extension ContentStamp: CustomStringConvertible {
  /// The version, or the beginning of the hash.
  public var description: String {
    switch form {
    case .version(let version): "version \(version)"
    case .hash(let hash, let byteCount):
      "\(byteCount) bytes, \(hash.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
    case .unknown: "a stamp of a later version of the library"
    }
  }
}
