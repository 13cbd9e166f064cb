internal import ArchiveCodec
internal import RestorationLibc
internal import Synchronization

/// Where a restore is, in 8 bytes behind the sealed marker of the launch; after the restore, which
/// value is decoded that nobody had asked for before, and where a late restore is.
///
/// The bytes lie in the same file, so a marker never comes with the note of another one. They are
/// written in place, which takes no room on a full disk. A memory mapped file would take less time,
/// but end the process there.
///
/// The note has a tag of four bytes, whose key is sealed in the marker. A note that somebody
/// without the key writes counts as none: its author can neither choose what is left out nor make a
/// keeper give up a state as soon as noted crashes would. An attacker can still put back a note
/// that stood in this file since the marker was written, or remove all files.
package final class LaunchNote: Sendable {
  /// The place that the note of a launch that has ended names.
  package enum Place: Hashable, Sendable {
    /// In none of the elements of the state.
    case outside
    /// In an element that is made or decoded, by its place in the tree.
    case element(Int)
    /// The restore has ended, or the app by itself.
    case ended
  }

  /// The content of the note of a launch.
  enum Reached: Hashable, Sendable {
    /// The restore of the launch has come this far.
    case restore(Place)
    /// The restore has ended. The value or late element is the one that the launch decoded when it
    /// crashed; nil if it decoded none.
    case later(LaterNumber?)
  }

  /// Tells the elements of a state from each other in a note, also after a save has moved them.
  struct LaterNumber: Hashable, Sendable {
    fileprivate static let first: UInt32 = 1 << 31
    fileprivate let number: UInt32
  }

  static let byteCount = 8
  private static let ended = UInt32.max
  private static let restored = UInt32.max - 1

  /// The proof that a note belongs to a marker.
  struct Tags: Sendable {
    private let tag: NumberTag?
    /// The tag in markers without a key: a part of what authenticates the marker.
    private let seal: UInt32

    init(_ tag: NumberTag?, _ marker: ArchiveVersion?) {
      self.tag = tag
      seal = marker?.mac.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } ?? 0
    }

    /// The number of a value or a late element in notes; nil for a marker without a key, which
    /// notes none.
    func number(of kind: ElementKind, at path: RestorationPath) -> LaterNumber? {
      tag.map { tag in
        let name = "\(kind.rawValue) \(path) \(path.siblingIndices)"
        return LaterNumber(
          number: min(tag.tag(of: name) | LaterNumber.first, LaunchNote.restored - 1))
      }
    }

    /// The note of a restore that has begun, and is outside of all elements.
    var begun: [UInt8] { bytes(of: 0) }

    fileprivate func bytes(of number: UInt32) -> [UInt8] {
      let bytes = UInt64(tag?.tag(of: number) ?? seal) << 32 | UInt64(number)
      return (0..<LaunchNote.byteCount).map { UInt8(truncatingIfNeeded: bytes >> (8 * $0)) }
    }
  }

  private let file: any AppendableArchiveFile
  private let offset: Int
  private let tags: Tags

  /// The bytes that a note may have, from the least to the most that is known.
  private struct Written {
    /// The bytes for an end of the process that is no crash, made before they are needed.
    var end: [UInt8]
    /// Where the restore is, or that it has ended.
    var restore: [UInt8]
    /// The values that are decoded now; the last of them has begun last.
    var values: [(key: String, bytes: [UInt8], since: ContinuousClock.Instant)] = []
    /// The element that is made or decoded now, by its place.
    var element: (place: Int, since: ContinuousClock.Instant)?
    /// Names the elements.
    var path: (@Sendable (Int) -> RestorationPath)?

    var bytes: [UInt8] { values.last?.bytes ?? restore }
  }

  private let written: Mutex<Written>

  /// Begins a note outside of all elements, or goes on with the one that was written with its marker.
  ///
  /// - Throws: `ArchiveError` if there is no room for the note, or the marker has been replaced.
  init(
    behind markerByteCount: Int, _ tags: Tags, isBegun: Bool, in storage: any ArchiveStorage
  ) throws(ArchiveError) {
    guard let file = try storage.openForAppending(),
      file.byteCount == markerByteCount + (isBegun ? Self.byteCount : 0)
    else {
      throw ArchiveError(.outdated)
    }
    self.file = file
    offset = markerByteCount
    self.tags = tags
    written = Mutex(Written(end: tags.bytes(of: Self.ended), restore: tags.begun))
    if !isBegun { try file.write(tags.begun, at: offset) }
    Self.remember(self)
  }

  /// Names the elements of the restore, for a person.
  func name(_ path: @escaping @Sendable (Int) -> RestorationPath) {
    written.withLock { $0.path = path }
  }

  /// Says which element is made or decoded now; nil outside of all elements.
  ///
  /// - Parameters:
  ///   - place: The place of the element in the tree.
  ///   - isWritten: Whether the launch after a crash is told.
  /// - Throws: `ArchiveError` if the note cannot be written.
  func reach(_ place: Int?, isWritten: Bool) throws(ArchiveError) {
    let now = ContinuousClock.now
    written.withLock { $0.element = place.map { (place: $0, since: now) } }
    guard isWritten else { return }
    let number = place.map { min(UInt32(clamping: $0 + 1), LaterNumber.first - 1) } ?? 0
    try write { $0.restore = tags.bytes(of: number) }
  }

  /// Says which value is decoded while the body runs, on any thread.
  func reach<Result>(valueOf key: String, _ body: () -> Result) -> Result {
    guard let number = tags.number(of: .node, at: ValuesNode.path(of: key)) else { return body() }
    let bytes = tags.bytes(of: number.number)
    writeIfPossible { $0.values.append((key: key, bytes: bytes, since: .now)) }
    defer {
      writeIfPossible { written in
        // Other values may have begun on other threads.
        let index = written.values.lastIndex { $0.bytes == bytes }
        if let index { written.values.remove(at: index) }
      }
    }
    return body()
  }

  /// Says which element a late restore makes or decodes now.
  func reachLate(_ kind: ElementKind, at path: RestorationPath) {
    guard let number = tags.number(of: kind, at: path) else { return }
    let bytes = tags.bytes(of: number.number)
    writeIfPossible { written in
      written.restore = bytes
      written.element = (place: 0, since: .now)
      written.path = { _ in path }
    }
  }

  /// Says that the restore has ended, and only values and late elements may still be decoded.
  func endRestore() {
    let bytes = tags.bytes(of: Self.restored)
    writeIfPossible { written in
      written.restore = bytes
      written.end = bytes
      (written.element, written.path) = (nil, nil)
    }
  }

  /// Says that no crash has ended the restore.
  func end() {
    do throws(ArchiveError) {
      // The thread that ends the process may have the lock.
      try written.withLockIfAvailable { written throws(ArchiveError) in
        written.restore = written.end
        written.values = []
        try file.write(written.bytes, at: offset)
      }
    } catch {
      // Without the note the next launch counts a crash.
    }
  }

  private func write(_ change: (inout Written) -> Void) throws(ArchiveError) {
    try written.withLock { written throws(ArchiveError) in
      change(&written)
      try file.write(written.bytes, at: offset)
    }
  }

  private func writeIfPossible(_ change: (inout Written) -> Void) {
    do throws(ArchiveError) {
      try write(change)
    } catch {
      // Without the note the next launch may count a crash that was none, or miss one in a value.
    }
  }

  /// Reads the note of a marker; nil if there is none, or the note belongs to another marker.
  static func read(in file: any ArchiveFile, with tags: Tags) throws(ArchiveError) -> Reached? {
    guard file.byteCount >= byteCount else { return nil }
    let bytes = try file.read(at: file.byteCount - byteCount, count: byteCount)
    let number = bytes.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard bytes == tags.bytes(of: number) else { return nil }
    switch number {
    case 0: return .restore(.outside)
    case ended: return .restore(.ended)
    case restored: return .later(nil)
    case LaterNumber.first...: return .later(LaterNumber(number: number))
    default: return .restore(.element(Int(clamping: number - 1)))
    }
  }

  // MARK: The end of the process

  private struct Weak {
    weak var note: LaunchNote?
  }

  private static let open = Mutex<[Weak]>([])

  /// An app that ends by itself in the midst of a restore has not crashed, so its exit is noted.
  private static let isExitNoted: Bool = {
    _ = process
    return atexit {
      // The end of a fork of the process is not that of the restore.
      if LaunchNote.process == SystemCall.processIdentifier { LaunchNote.noteExit() }
    } == 0
  }()

  private static let process = SystemCall.processIdentifier

  private static func remember(_ note: LaunchNote) {
    _ = isExitNoted
    open.withLock { open in
      open.removeAll { $0.note == nil }
      open.append(Weak(note: note))
    }
  }

  /// Notes the end of the process in all notes that are open.
  package static func noteExit() {
    // The thread that ends the process may have the lock.
    _ = open.withLockIfAvailable { open in
      for weak in open { weak.note?.end() }
    }
  }

  /// The time after which a user may end the process because of an element that hangs.
  private static let longestTime = Duration.seconds(5)

  /// What is made or decoded for longer than that; nil if nothing is.
  private var hanging: RestorationPath? {
    let (now, longest) = (ContinuousClock.now, Self.longestTime)
    let found = written.withLockIfAvailable { written -> RestorationPath? in
      if let value = written.values.first(where: { $0.since.duration(to: now) > longest }) {
        return RestorationPath().appending(value.key)
      }
      guard let element = written.element, element.since.duration(to: now) > longest else {
        return nil
      }
      return written.path?(element.place) ?? RestorationPath()
    }
    return found ?? nil
  }

  /// Notes in all notes that are open that a signal ends the process, which is no crash unless
  /// something hangs: a user who ends such an app starts it again, and it must start one day.
  static func noteSignal() {
    for note in open.withLock({ $0.compactMap(\.note) }) {
      guard let path = note.hanging else {
        note.end()
        continue
      }
      Problems.say([
        "“\(path.phrase)” has been made or decoded for more than 5 seconds, and a signal ends the app."
          + " That counts as a crash there, and after two in a row the next launch leaves it out."
          + " Return from its hooks sooner."
      ])
    }
  }
}
