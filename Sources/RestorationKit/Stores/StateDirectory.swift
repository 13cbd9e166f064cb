public import ArchiveCodec

/// A place for the states of one application, each under a name.
public protocol StateDirectory: Sendable {
  /// The storage of one state, which need not exist; each name has a storage of its own.
  ///
  /// - Parameter name: A name that ``StateKeeper`` has checked: not empty, no
  ///   `/`, no leading `.`.
  /// - Returns: The place where that state is or will be.
  func storage(named name: String) -> any ArchiveStorage

  /// The names of the storages that hold something.
  ///
  /// By this list a keeper finds the history of its state, which lies in storages of its own
  /// unless the states are files.
  ///
  /// - Returns: The names, in any order.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` if they cannot be listed.
  func names() throws(ArchiveError) -> [String]
}

extension StateDirectory {
  /// None: by default a directory cannot tell.
  public func names() throws(ArchiveError) -> [String] { [] }
}

/// Gives the key that seals and opens the states of one application.
public protocol KeyProvider: Sendable {
  /// Where the key is, for a person to read; nil by default.
  var location: String? { get }

  /// Whether ``key(creating:)`` can make a key; true by default.
  ///
  /// False for a key that the app's surroundings have to provide. Reports and errors
  /// then say that nothing is saved until the key is there.
  var makesKey: Bool { get }

  /// Finds the key.
  ///
  /// Keepers ask on a thread of their own, so the call may wait for another process.
  ///
  /// - Parameter creating: Whether to make and keep a new key if there is none.
  /// - Returns: The key, or nil if there is none and none was to be made.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` if there is a key that cannot be used; a
  ///   new key never replaces it. Throw ``/ArchiveCodec/ArchiveError/keyLocked(at:)``
  ///   while the device or the keyring is locked: then no state is restored, and none
  ///   overwritten.
  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey?
}

extension KeyProvider {
  /// Nil: the place of the key is not known.
  public var location: String? { nil }

  /// True: the provider makes a key.
  public var makesKey: Bool { true }
}

/// States in files of one directory, written whole or not at all.
///
/// See ``/ArchiveCodec/FileStorage`` for how a file is replaced. The history of a state is the
/// directory `name.history` beside its file.
public struct FileStateDirectory: StateDirectory {
  /// The path of the directory; it is made with the first state.
  public let path: String

  var fileExtension = ".rka"

  /// Names a directory, which need not exist.
  ///
  /// In the container of an app group, call ``StateKeeper/close()`` before the app
  /// is suspended: iOS ends apps that hold a lock on a file there (0xdead10cc in
  /// Apple's list of termination codes).
  ///
  /// - Parameter path: The path of the directory.
  public init(path: String) {
    self.path = path
  }

  /// Names the application's directory in the user's directory for state.
  ///
  /// The user's directory is `$XDG_STATE_HOME`, or `~/.local/state` if the variable is not
  /// set or not absolute, and on Apple systems Application Support. The home directory is
  /// `$HOME`, or that of the password database if `$HOME` is not set or not absolute.
  ///
  /// - Parameter application: The identifier of the application.
  public init(application: String) {
    self.init(path: BaseDirectories.current.state(of: application))
  }

  /// The file `name.rka` in the directory.
  public func storage(named name: String) -> any ArchiveStorage {
    FileStorage(path: file(of: name))
  }

  /// The path of the file of a state.
  fileprivate func file(of name: String) -> String { "\(path)/\(name)\(fileExtension)" }

  /// The names of the `.rka` files in the directory, without `.rka`.
  public func names() throws(ArchiveError) -> [String] {
    var found: [String] = []
    do throws(ArchiveError) {
      try Directory(path).forEachName(beginningWith: "") { file throws(ArchiveError) in
        guard !file.hasPrefix("."), file.hasSuffix(fileExtension),
          try Directory.status(of: Directory(path).child(file))?.isRegularFile == true
        else { return }
        found.append(String(file.dropLast(fileExtension.count)))
      }
    } catch {
      throw error.located(at: path)
    }
    return found
  }
}

/// A directory that has the moments of a state in a place of its own.
///
/// Any other directory has copies in storages, with names of their own.
package protocol LinkingDirectory: StateDirectory {
  func linkedMoments(of name: String) -> MomentStore
}

extension StateDirectory {
  /// The directory, if another place has its states, too.
  ///
  /// To ask a type whether it has a protocol takes longer than to compare it.
  var linked: (any LinkedDirectory)? {
    self is FileStateDirectory || self is MemoryStateDirectory ? nil : self as? any LinkedDirectory
  }

  package func moments(of name: String) -> MomentStore {
    // To ask a type whether it has a protocol takes longer than to compare it.
    if let files = self as? FileStateDirectory {
      return MomentStore(linking: files.file(of: name), in: "\(files.path)/\(name).history")
    }
    return (self as? any LinkingDirectory)?.linkedMoments(of: name)
      ?? MomentStore(of: storage(named: name), in: self, prefix: "\(name).history-")
  }
}

/// An element or a value that a launch makes or decodes.
package struct LaunchSubject: Hashable, Codable, Sendable {
  package let number: UInt64

  init(number: UInt64) { self.number = number }

  /// Names an element of the state by its identifier.
  package init(element id: UInt64) { number = id &+ 1 }

  /// Names a value by the tag of its key.
  package init(valueTag tag: UInt32) { number = Self.valueMark | UInt64(tag) }

  private static let valueMark: UInt64 = 1 << 63

  /// The identifier of the element; nil for a value.
  package var element: UInt64? { number & Self.valueMark == 0 ? number &- 1 : nil }
}

/// Where a launch is, in 16 bytes beside its record, which are written in place again and again.
///
/// ```text
/// 0   1   the stage
/// 1   8   the element or value, little-endian; 0 for none
/// 9   4   the tag, whose key is sealed in the record
/// 13  3   zeros
/// ```
///
/// A note that somebody without the key writes counts as none: its author can neither choose what
/// is left out nor make a keeper give up a state as soon as noted crashes would. An attacker can
/// still put back a note or a record that stood there before, or remove all files.
package struct LaunchNote: Equatable, Sendable {
  package enum Stage: UInt8, Sendable {
    case restoring = 1
    /// Only values and late elements may still be decoded.
    case restored
    /// The app has ended by itself in the midst of that.
    case ended
    /// The app has said that it ends.
    case closed
  }

  package let stage: Stage
  package let subject: LaunchSubject?

  package static let byteCount = 16

  package init(_ stage: Stage, _ subject: LaunchSubject? = nil) {
    (self.stage, self.subject) = (stage, subject)
  }

  package func bytes(_ tag: NumberTag) -> [UInt8] {
    let number = subject?.number ?? 0
    let proof = tag.tag(of: "note \(stage.rawValue) \(number)")
    let start = number << 8 | UInt64(stage.rawValue)
    let end = UInt64(proof) << 8 | number >> 56
    return unsafe withUnsafeBytes(of: (start.littleEndian, end.littleEndian)) { unsafe Array($0) }
  }

  /// Reads the note at the end of a record; nil if it is none of the record with this key.
  package init?(endOf record: [UInt8], _ tag: NumberTag) {
    let bytes = Array(record.suffix(Self.byteCount))
    guard bytes.count == Self.byteCount, let stage = Stage(rawValue: bytes[0]) else { return nil }
    let number = bytes[1..<9].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(stage, number == 0 ? nil : LaunchSubject(number: number))
    guard self.bytes(tag) == bytes else { return nil }
  }
}

/// The place of the record of a launch, which need not survive a power cut.
package protocol LaunchPlace: Sendable {
  /// The bytes of the record and of what follows, which end with the note; nil if there are none.
  func read() throws(ArchiveError) -> [UInt8]?

  /// Writes the record with its note, in place of another one.
  func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError)

  /// Writes another note beside the record that was written last.
  func write(note: [UInt8]) throws(ArchiveError)

  /// Removes the record.
  func clear() throws(ArchiveError)
}

/// The record in the file that locks the state, so that a launch has one file to open beside it.
///
/// The bytes are written in one call, and take no room on a full disk once the file is there.
extension OpenLockFile: LaunchPlace {
  private static let noteOffset = LockFile.byteCount - LaunchNote.byteCount

  package func read() throws(ArchiveError) -> [UInt8]? { hasRecord ? try record() : nil }

  package func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError) {
    try write(record: record, endingWith: note)
  }

  package func write(note: [UInt8]) throws(ArchiveError) { try write(note, at: Self.noteOffset) }

  // Without a record the file goes with the lock.
  package func clear() throws(ArchiveError) { try cutRecord() }
}

/// The record in a storage of its own, for a state that is no file.
package struct StoredLaunch: LaunchPlace {
  private let storage: any ArchiveStorage

  package init(_ storage: any ArchiveStorage) { self.storage = storage }

  package func read() throws(ArchiveError) -> [UInt8]? {
    guard let file = try storage.open() else { return nil }
    let bytes = try file.read(at: 0, count: min(file.byteCount, LockFile.byteCount))
    return SealedRecord.isBeginning(bytes) ? bytes : nil
  }

  package func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError) {
    if try read() == nil, hasArchive { throw ArchiveError(.notAFile) }
    try storage.replace { sink throws(ArchiveError) in try sink.write(record + note) }
  }

  /// Whether a state is there, which stays: a directory may have one place for every name.
  private var hasArchive: Bool {
    do throws(ArchiveError) {
      return try Archive.slots(of: storage) != nil
    } catch {
      return !error.isAboutContent
    }
  }

  package func write(note: [UInt8]) throws(ArchiveError) {
    guard let file = try storage.openForAppending(), file.byteCount > note.count else {
      throw ArchiveError(.outdated)
    }
    try file.write(note, at: file.byteCount - note.count)
  }

  package func clear() throws(ArchiveError) {
    if try read() != nil { try storage.remove() }
  }
}

/// The key in a file of its own, readable by the owner alone.
///
/// The file is outside the directory of the states, so that a copy of that
/// directory does not contain the key.
extension KeyFile: KeyProvider {
  /// Names the application's file in the user's data directory.
  ///
  /// The file is `restoration-keys/APPLICATION.key` in `$XDG_DATA_HOME`, or in
  /// `~/.local/share` if that variable or `$XDG_STATE_HOME` is not set or not absolute, and
  /// on Apple systems in Application Support. The home directory is as for
  /// ``FileStateDirectory``. So the terminal of a snap, which sets `XDG_DATA_HOME` alone, has
  /// the same key and the same state as any other.
  ///
  /// - Parameter application: The identifier of the application.
  public init(application: String) {
    self.init(path: BaseDirectories.current.keyFile(of: application))
  }

  /// The path of the file.
  public var location: String? { path }

  /// Reads the key, or makes the file.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    if let key = try current() { return key }
    return creating ? try loadOrCreate() : nil
  }
}

/// A key that the application has from elsewhere: a keyring, a server, a test.
extension ArchiveKey: KeyProvider {
  /// The key itself.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? { self }
}

extension KeyProvider where Self == ArchiveKey {
  /// Makes a new random key, for tests and previews.
  ///
  /// The key is stored nowhere: nothing else opens what it has sealed.
  ///
  ///     let keeper = try StateKeeper(
  ///       application: "org.example.test", directory: MemoryStateDirectory(), keys: .ephemeral())
  ///
  /// - Returns: The key.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `cryptographyUnavailable`.
  public static func ephemeral() throws(ArchiveError) -> ArchiveKey { try ArchiveKey() }
}
