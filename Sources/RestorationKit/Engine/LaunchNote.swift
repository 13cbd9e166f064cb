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
/// They lie in the same file, so a marker never comes with the note of another one, and say
/// to which it belongs. They are written where they are: that takes no room on a full disk.
/// A memory mapped file would take less time, but end the process there.
package final class LaunchNote: Sendable {
  /// What the note of a launch that has ended says.
  enum Place: Hashable, Sendable {
    /// In none of the elements of the state.
    case outside
    /// In one that is made or decoded, by its place in the tree.
    case element(Int)
    /// The restore has ended, or the app by itself.
    case ended
  }

  static let byteCount = 8

  private let file: any AppendableArchiveFile
  private let offset: Int
  private let seal: UInt32

  /// Begins a note outside of all elements.
  ///
  /// - Throws: `ArchiveError` if there is no room for it, or no such marker any more.
  init(behind marker: Archive.Summary, in storage: any ArchiveStorage) throws(ArchiveError) {
    guard let file = try storage.openForAppending(), file.byteCount == marker.byteCount else {
      throw ArchiveError(.outdated)
    }
    self.file = file
    offset = marker.byteCount
    seal = Self.seal(of: marker.version)
    try write(0)
    Self.remember(self)
  }

  /// Says which element is made or decoded now; nil if it is none.
  func reach(_ place: Int?) throws(ArchiveError) {
    try write(place.map { UInt32(clamping: $0 + 1) } ?? 0)
  }

  /// Says that no crash has ended the restore.
  func end() {
    do throws(ArchiveError) {
      try write(.max)
    } catch {
      // Then the next launch counts a crash.
    }
  }

  private func write(_ number: UInt32) throws(ArchiveError) {
    let bytes = UInt64(seal) << 32 | UInt64(number)
    try file.write(
      (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: bytes >> (8 * $0)) }, at: offset)
  }

  /// Reads the note of a marker; nil if there is none, or that of another one.
  static func read(
    behind version: ArchiveVersion, in file: any ArchiveFile
  ) throws(ArchiveError) -> Place? {
    guard file.byteCount >= byteCount else { return nil }
    let bytes = try file.read(at: file.byteCount - byteCount, count: byteCount)
    let both = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard both >> 32 == UInt64(seal(of: version)) else { return nil }
    switch UInt32(truncatingIfNeeded: both) {
    case 0: return .outside
    case .max: return .ended
    case let number: return .element(Int(clamping: number - 1))
    }
  }

  /// A part of what authenticates the marker.
  private static func seal(of version: ArchiveVersion) -> UInt32 {
    version.mac.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
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
    let notes = open.withLockIfAvailable { open in open.compactMap(\.note) }
    for note in notes ?? [] { note.end() }
  }
}
