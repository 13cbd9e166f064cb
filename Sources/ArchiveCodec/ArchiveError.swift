#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A failure to write, open or read an archive.
///
/// The description is one or two sentences: what happened, and what to do. It
/// never holds a key or a stored value; it may hold the names of record keys.
public struct ArchiveError: Error, Hashable, Sendable {
  /// One pointer, because each of the many calls that can throw has code that moves the error on.
  private let boxed: Boxed

  private var parts: Parts {
    switch boxed {
    case .parts(let parts): parts
    }
  }

  /// The kind of failure; compare the code to decide what to do.
  public var code: Code { parts.code }

  /// Where the failure was found: a position in bytes, in the file or in the
  /// record.
  public var offset: Int? { parts.offset }

  /// The keys that lead to the value, outermost first; empty for a whole file.
  public var path: [String] { parts.path }

  /// The limit, type or version that the failure is about.
  public var subject: String? { parts.subject }

  /// The operating system's error number, if the system reported the failure.
  public var systemError: Int32? { parts.systemError }

  /// Where the archive or key is, as the path of a file; nil if unknown.
  public var location: String? { parts.location }

  /// Creates an error that a storage or a source of keys of your own throws.
  ///
  /// ``Archive/open(_:with:context:limits:recovery:)`` and ``ArchiveWriter``
  /// add the location of the storage to an error that has none.
  ///
  ///     throw ArchiveError(.storageFull, subject: "quota of the server")
  ///
  /// - Parameters:
  ///   - code: The kind of failure, which also says what to do.
  ///   - offset: The position in bytes where the failure was found.
  ///   - path: The keys that lead to the value, outermost first.
  ///   - subject: The limit, type or part that the failure is about, in a few words;
  ///     never a secret or content.
  ///   - systemError: The operating system's error number.
  ///   - location: Where the archive or key is, for a person to read.
  public init(
    _ code: Code, offset: Int? = nil, path: [String] = [], subject: String? = nil,
    systemError: Int32? = nil, location: String? = nil
  ) {
    boxed = .parts(
      Parts(
        code: code, offset: offset, path: path, subject: subject, systemError: systemError,
        location: location))
  }

  package func at(_ key: String) -> ArchiveError {
    ArchiveError(
      code, offset: offset, path: [key] + path, subject: subject, systemError: systemError,
      location: location)
  }

  package func located(at location: String) -> ArchiveError {
    guard self.location == nil else { return self }
    return ArchiveError(
      code, offset: offset, path: path, subject: subject, systemError: systemError,
      location: location)
  }
}

extension ArchiveError {
  private struct Parts: Hashable {
    let code: Code
    let offset: Int?
    let path: [String]
    let subject: String?
    let systemError: Int32?
    let location: String?
  }

  private indirect enum Boxed: Hashable {
    case parts(Parts)
  }

  /// The kind of a failure.
  ///
  /// More kinds may come; handle unknown ones.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: String {
      case notAnArchive, unsupportedVersion, unsupportedFeature, damaged, truncated, wrongKey,
        wrongPassphrase, passphraseEmpty, lastSlot, slotMissing, wrongContext, limitExceeded,
        malformed, typeMismatch, numberOutOfRange, keyNotFound, notAFile, permissionDenied,
        storageFull, notDurable, inputOutput, storeUnavailable, locked, outdated, forked, poisoned,
        keyMissing, keyLocked, keyUnavailable, keyDamaged, keyExposed, cryptographyUnavailable,
        encoderClosed
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The name of the code, as in `damaged`.
    public var description: String { kind.rawValue }

    /// The bytes do not begin as an archive does.
    public static var notAnArchive: Code { Code(.notAnArchive) }

    /// The archive has a major version that this library does not know.
    public static var unsupportedVersion: Code { Code(.unsupportedVersion) }

    /// The archive needs a feature that this library does not know.
    public static var unsupportedFeature: Code { Code(.unsupportedFeature) }

    /// A byte differs from the written one; nothing of the damaged part is used.
    public static var damaged: Code { Code(.damaged) }

    /// The archive ends before it should.
    public static var truncated: Code { Code(.truncated) }

    /// No slot of the archive opens with this key.
    public static var wrongKey: Code { Code(.wrongKey) }

    /// No slot that was tried opens with this passphrase.
    public static var wrongPassphrase: Code { Code(.wrongPassphrase) }

    /// The passphrase has no bytes.
    public static var passphraseEmpty: Code { Code(.passphraseEmpty) }

    /// The archive would be left without a slot, so that nothing could open it.
    public static var lastSlot: Code { Code(.lastSlot) }

    /// The archive has no such slot any more.
    public static var slotMissing: Code { Code(.slotMissing) }

    /// The key is right, but the archive belongs to another context.
    public static var wrongContext: Code { Code(.wrongContext) }

    /// A value, a record or the file is larger than ``ArchiveLimits`` allows.
    public static var limitExceeded: Code { Code(.limitExceeded) }

    /// The content is authentic, but not well formed.
    public static var malformed: Code { Code(.malformed) }

    /// The key holds a value of another type.
    public static var typeMismatch: Code { Code(.typeMismatch) }

    /// The stored number does not fit into the requested type.
    public static var numberOutOfRange: Code { Code(.numberOutOfRange) }

    /// A required key is absent.
    public static var keyNotFound: Code { Code(.keyNotFound) }

    /// A directory, FIFO, device or symbolic link stands where the file should be.
    public static var notAFile: Code { Code(.notAFile) }

    /// The operating system does not allow the access.
    public static var permissionDenied: Code { Code(.permissionDenied) }

    /// There is no space left, or a quota is used up.
    public static var storageFull: Code { Code(.storageFull) }

    /// The change is in its place, but the system could not put it on stable
    /// storage, so a power cut may undo it.
    public static var notDurable: Code { Code(.notDurable) }

    /// The operating system reports another failure.
    public static var inputOutput: Code { Code(.inputOutput) }

    /// The store for the archives of several machines does not answer, or refuses.
    public static var storeUnavailable: Code { Code(.storeUnavailable) }

    /// Another writer has the archive open.
    public static var locked: Code { Code(.locked) }

    /// The records were built for an earlier state of the archive, or another
    /// writer has changed the stored archive.
    public static var outdated: Code { Code(.outdated) }

    /// The writer was opened before this process was made by a fork.
    public static var forked: Code { Code(.forked) }

    /// A write or sync failed before, so the bytes on the disk are unknown.
    public static var poisoned: Code { Code(.poisoned) }

    /// The key that opens the archive is not there.
    public static var keyMissing: Code { Code(.keyMissing) }

    /// The key exists but cannot be read yet, because the device or the keyring is locked.
    public static var keyLocked: Code { Code(.keyLocked) }

    /// The keyring or service that keeps the key does not answer, so nobody knows
    /// whether there is a key.
    public static var keyUnavailable: Code { Code(.keyUnavailable) }

    /// The key file is damaged, or another file is in its place.
    public static var keyDamaged: Code { Code(.keyDamaged) }

    /// Another user owns the key file, or may read or change it.
    public static var keyExposed: Code { Code(.keyExposed) }

    /// libsodium could not be started, or the system gave no secret memory.
    public static var cryptographyUnavailable: Code { Code(.cryptographyUnavailable) }

    /// The encoder was used outside the call that it was made for.
    public static var encoderClosed: Code { Code(.encoderClosed) }

    /// What happened and what to do.
    fileprivate var advice: String {
      switch kind {
      case .notAnArchive:
        "This is not an archive. Check that the path names the right file."
      case .unsupportedVersion:
        "The archive has another version of the format. Open it with the app that wrote it."
      case .unsupportedFeature:
        "The archive uses a feature that this version does not know. Update the app to open it."
      case .damaged:
        "The archive was changed or damaged after it was written. Restore it from a backup,"
          + " or write another one."
      case .truncated:
        "The archive ends too early. Restore it from a backup, or write another one."
      case .wrongKey:
        "The key does not open this archive. Use the key that it was written with,"
          + " or move away the archive if it belongs to another app."
      case .wrongPassphrase:
        "The passphrase does not open this archive. Check how it is spelled and try again."
      case .passphraseEmpty:
        "An empty passphrase protects nothing. Ask for another one."
      case .lastSlot:
        "Nothing would open the archive any more. Add another key or passphrase first."
      case .slotMissing:
        "The archive does not have this slot. List its slots again."
      case .wrongContext:
        "The archive belongs to another application, state or user."
          + " Open it with the context that it was written with."
      case .limitExceeded:
        "A limit was exceeded. Store less in one piece, or raise the limit."
      case .malformed:
        "The content breaks the rules of the format. The program that wrote it has a bug."
      case .typeMismatch:
        "The stored value has another type. Decode it as the type it was encoded as."
      case .numberOutOfRange:
        "The stored number does not fit. Decode it as a wider type."
      case .keyNotFound:
        "There is no value for this key. Use decodeIfPresent where it may be absent."
      case .notAFile:
        "The path does not name a regular file. Move away what is there."
      case .permissionDenied:
        "There is no permission. Check the owner and the mode of the file and its directory."
      case .storageFull:
        "The disk is full. Free some space and save again; the old file is unchanged."
      case .notDurable:
        "The change is written, but a power cut may undo it. Check the disk, then save again."
      case .inputOutput:
        "Reading or writing failed. Check the disk and the path."
      case .storeUnavailable:
        "The store that has the states cannot be used. What is there is unchanged, or has what was"
          + " sent to it; try again."
      case .locked:
        "The archive is being changed elsewhere. Close the other writer, then try again."
      case .outdated:
        "The archive has changed meanwhile. Build the records again with a new builder, or open the"
          + " archive again if somebody else has changed it."
      case .forked:
        "The archive was opened by the parent process. Open it again in this one."
      case .poisoned:
        "An earlier change may not be on the disk. Write the archive anew, with compact or rewrite."
      case .keyMissing:
        "The key that opens this archive is not there. Put it in its place."
      case .keyLocked:
        "The key is locked. Unlock the device or the keyring, then try again."
      case .keyUnavailable:
        "What keeps the key does not answer. Log in to the desktop or start its keyring,"
          + " then try again."
      case .keyDamaged:
        "The key is damaged or is none. Restore it from a backup."
      case .keyExposed:
        "The key file is open to others, or theirs. Make it yours with chown and chmod 600."
      case .cryptographyUnavailable:
        "libsodium could not start. Check its installation."
      case .encoderClosed:
        "An encoder was used after its record was finished. Do not keep encoders."
      }
    }
  }
}

extension ArchiveError {
  /// The error that a source of keys throws while its key exists but is locked.
  ///
  /// - Parameter location: Where the key is, for a person to read.
  /// - Returns: An error with the code `keyLocked`.
  public static func keyLocked(at location: String? = nil) -> ArchiveError {
    ArchiveError(.keyLocked, location: location)
  }

  /// The subject of `locked` if the lock is held in this process.
  package static let thisProcess = "this process"
}

extension ArchiveError: LocalizedError {
  /// The text of ``description``; it is not translated.
  public var errorDescription: String? { description }
}

extension ArchiveError: CustomStringConvertible {
  /// The failure and its remedy, in plain words; the text may change.
  public var description: String {
    let details = details
    return details.isEmpty ? code.advice : "\(code.advice) (\(facts))"
  }

  /// The code and the place of the failure, without advice: for a text about a failure
  /// that was already dealt with.
  package var facts: String {
    let details = details
    return details.isEmpty
      ? code.description : "\(code): \(details.joined(separator: ", "))"
  }

  /// The failure and its place, without advice: for a text that gives its own advice.
  package var finding: String { "\(code.advice.prefix { $0 != "." }) (\(facts))." }

  private var details: [String] {
    var details: [String] = []
    if let subject { details.append(Self.shortened(subject)) }
    if !path.isEmpty { details.append("at \(Self.shortened(path.joined(separator: ".")))") }
    if let offset { details.append("byte \(offset)") }
    if let systemError { details.append("system error \(systemError)") }
    if let location { details.append("in \(location)") }
    return details
  }

  /// A short form of a name: names come from archives, so a hostile one could flood a
  /// log or steer a terminal.
  private static func shortened(_ text: String) -> String {
    if text.utf8.count <= 120, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
    let steering: Set<Unicode.GeneralCategory> = [
      .control, .format, .lineSeparator, .paragraphSeparator,
    ]
    let start = text.unicodeScalars.prefix(120).map { scalar in
      steering.contains(scalar.properties.generalCategory) ? "\u{FFFD}" : Character(scalar)
    }
    return String(start) + (text.unicodeScalars.count > 120 ? "…" : "")
  }
}
