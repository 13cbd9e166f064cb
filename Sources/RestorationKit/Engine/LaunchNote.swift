internal import ArchiveCodec
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// Where a restore is, in 8 bytes behind the sealed marker of the launch.
///
/// They lie in the same file, so a marker never comes with the note of another one. They are
/// written where they are: that takes no room on a full disk. A memory mapped file would
/// take less time, but end the process there.
///
/// They have a tag of four bytes, whose key is sealed in the marker. A note that somebody
/// without the key writes counts as none, so that he can neither choose what is left out nor
/// make a keeper give up a state as soon as noted crashes would. He can still put back what
/// he has seen in this file since the marker was written, or remove all files.
package final class LaunchNote: Sendable {
  /// What the note of a launch that has ended says.
  package enum Place: Hashable, Sendable {
    /// In none of the elements of the state.
    case outside
    /// In one that is made or decoded, by its place in the tree.
    case element(Int)
    /// The restore has ended, or the app by itself.
    case ended
  }

  static let byteCount = 8

  /// What says of a note that it belongs to a marker.
  struct Tags: Sendable {
    private let tag: NumberTag?
    /// What stood for it in markers without a key: a part of what authenticates them.
    private let seal: UInt32

    init(_ tag: NumberTag?, _ marker: ArchiveVersion) {
      self.tag = tag
      seal = marker.mac.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    fileprivate func bytes(of number: UInt32) -> [UInt8] {
      let bytes = UInt64(tag?.tag(of: number) ?? seal) << 32 | UInt64(number)
      return (0..<LaunchNote.byteCount).map { UInt8(truncatingIfNeeded: bytes >> (8 * $0)) }
    }
  }

  private let file: any AppendableArchiveFile
  private let offset: Int
  private let tags: Tags
  /// Made before the process ends, when it is no time for that.
  private let bytesOfEnd: [UInt8]

  /// Begins a note outside of all elements.
  ///
  /// - Throws: `ArchiveError` if there is no room for it, or no such marker any more.
  init(
    behind marker: Archive.Summary, _ tags: Tags, in storage: any ArchiveStorage
  ) throws(ArchiveError) {
    guard let file = try storage.openForAppending(), file.byteCount == marker.byteCount else {
      throw ArchiveError(.outdated)
    }
    self.file = file
    offset = marker.byteCount
    self.tags = tags
    bytesOfEnd = tags.bytes(of: .max)
    try file.write(tags.bytes(of: 0), at: offset)
    Self.remember(self)
  }

  /// Says which element is made or decoded now; nil if it is none.
  func reach(_ place: Int?) throws(ArchiveError) {
    try file.write(tags.bytes(of: place.map { UInt32(clamping: $0 + 1) } ?? 0), at: offset)
  }

  /// Says that no crash has ended the restore.
  func end() {
    do throws(ArchiveError) {
      try file.write(bytesOfEnd, at: offset)
    } catch {
      // Then the next launch counts a crash.
    }
  }

  /// Reads the note of a marker; nil if there is none, or one that does not belong to it.
  static func read(in file: any ArchiveFile, with tags: Tags) throws(ArchiveError) -> Place? {
    guard file.byteCount >= byteCount else { return nil }
    let bytes = try file.read(at: file.byteCount - byteCount, count: byteCount)
    let number = bytes.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard bytes == tags.bytes(of: number) else { return nil }
    switch number {
    case 0: return .outside
    case .max: return .ended
    case let number: return .element(Int(clamping: number - 1))
    }
  }

  // MARK: The end of the process

  private struct Weak {
    weak var note: LaunchNote?
  }

  private static let open = Mutex<[Weak]>([])

  /// An app that ends by itself in the midst of a restore has not crashed in it.
  private static let isExitNoted: Bool = atexit { LaunchNote.noteExit() } == 0

  private static func remember(_ note: LaunchNote) {
    _ = isExitNoted
    open.withLock { open in
      open.removeAll { $0.note == nil }
      open.append(Weak(note: note))
    }
  }

  /// Notes the end of the process in all that are open.
  package static func noteExit() {
    // Whoever ends the process may have the lock.
    _ = open.withLockIfAvailable { open in
      for weak in open { weak.note?.end() }
    }
  }
}
