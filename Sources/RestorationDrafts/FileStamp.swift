internal import ArchiveCodec
public import RestorationFoundation

/// What a draft was made from: the content of a file as it was then.
///
///     let stamp = try FileStamp(of: url)
///     // In a later launch, before the draft is shown or saved:
///     switch stamp.compare(with: url) {
///     case .same: print("The draft is still of this file.")
///     case .changed(let now): print("Somebody has written the file meanwhile: \(now)")
///     case .gone, .unreadable, .unknown: print("Ask the user where to save.")
///     }
///
/// A stamp has no content and takes about 100 bytes. It is made for one machine: on another one the file
/// is read, and the same bytes are the same file.
///
/// Only regular files are opened; a link is followed. The calls block their thread, for as long as the
/// file takes to be read, or a network drive to answer: a dead one can take very long. Call them off the main
/// actor.
public struct FileStamp: Hashable, Sendable {
  /// The content, by its hash.
  public let content: ContentStamp

  /// What the system said of the file; nil in a stamp of a later version of the library.
  let facts: FileFacts?

  /// Whether any later write shows in the facts.
  ///
  /// Clocks of file systems are coarse: a file that was written a moment ago can be written again without
  /// another time.
  let isSettled: Bool

  /// In bytes: reading less takes about as long as what an editor does then anyway.
  private static let largestAlwaysRead = 1 << 20

  init(content: ContentStamp, facts: FileFacts?, isSettled: Bool) {
    (self.content, self.facts, self.isSettled) = (content, facts, isSettled)
  }

  /// Reads a file.
  ///
  /// - Parameter url: The URL of a file.
  /// - Throws: ``DraftError`` with `gone`, `notAFile`, `permissionDenied`, `changing` if somebody writes the
  ///   file all the time, or `unreadable`.
  /// - Complexity: O(*n*) in the bytes of the file; 256 KiB of memory.
  public init(of url: URL) throws(DraftError) {
    try self.init(of: url, now: FileFacts.now)
  }

  /// Reads a file at a time, in seconds since 1970 by the clock of the system.
  package init(of url: URL, now: () -> Int) throws(DraftError) {
    self = try FileReading(of: url).stamp(now: now)
  }
}

extension FileStamp {
  /// How the content of a file relates to a stamp.
  public enum Comparison: Hashable, Sendable {
    /// The file has the content of the stamp.
    case same
    /// The file has another content, which has this stamp.
    case changed(FileStamp)
    /// There is no file.
    case gone
    /// The file cannot be read, and why.
    case unreadable(DraftError)
    /// The stamp was made by a later version of the library: treat the file as changed.
    case unknown
  }

  /// Compares a file with the stamp.
  ///
  /// The content decides: a file that was written again with the same bytes is the same. Only a file of 1 MiB or
  /// more is not read if its inode, size and times are those of the stamp, and if the times were at least two
  /// seconds old when the stamp was made. A program that writes such a file through a mapping, or sets its times
  /// back, is not seen.
  ///
  /// - Parameter url: The URL of the file, which may have been moved since.
  /// - Returns: How the file relates to the stamp.
  /// - Complexity: As ``init(of:)``; O(1) for a file of 1 MiB or more that nobody has touched since.
  public func compare(with url: URL) -> Comparison {
    guard let facts, content.form != .unknown else { return .unknown }
    do throws(DraftError) {
      let reading = try FileReading(of: url)
      if isSettled, reading.facts == facts, facts.byteCount >= Self.largestAlwaysRead {
        return .same
      }
      let now = try reading.stamp(now: FileFacts.now)
      return now.content == content ? .same : .changed(now)
    } catch {
      return error.code == .gone ? .gone : .unreadable(error)
    }
  }
}

extension FileStamp: Codable {
  private enum Key: String, CodingKey {
    case content, inode, byteCount, modified, changed, isSettled
  }

  /// Writes the content and the facts.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(content, forKey: .content)
    guard let facts else { return }
    try values.encode(facts.inode, forKey: .inode)
    try values.encode(facts.byteCount, forKey: .byteCount)
    try values.encode(facts.modified, forKey: .modified)
    try values.encode(facts.changed, forKey: .changed)
    try values.encode(isSettled, forKey: .isSettled)
  }

  /// Reads a stamp; of one that this version does not know, every file is ``Comparison/unknown``.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let content = try values.decodeIfPresent(ContentStamp.self, forKey: .content)
    guard let content, let inode = try values.decodeIfPresent(UInt64.self, forKey: .inode),
      let byteCount = try values.decodeIfPresent(Int64.self, forKey: .byteCount),
      let modified = try values.decodeIfPresent([Int64].self, forKey: .modified),
      let changed = try values.decodeIfPresent([Int64].self, forKey: .changed),
      let isSettled = try values.decodeIfPresent(Bool.self, forKey: .isSettled)
    else {
      self.init(content: content ?? ContentStamp(.unknown), facts: nil, isSettled: false)
      return
    }
    self.init(
      content: content,
      facts: FileFacts(inode: inode, byteCount: byteCount, modified: modified, changed: changed),
      isSettled: isSettled)
  }
}
