public import RestorationFoundation

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
    self.init(
      Parts(
        code: code, offset: offset, path: path, subject: subject, systemError: systemError,
        location: location))
  }

  private init(_ parts: Parts) { boxed = .parts(parts) }

  package func at(_ key: String) -> ArchiveError {
    var parts = parts
    parts.path.insert(key, at: 0)
    return ArchiveError(parts)
  }

  package func located(at location: String) -> ArchiveError {
    var parts = parts
    parts.location = parts.location ?? location
    return ArchiveError(parts)
  }
}

extension ArchiveError {
  private struct Parts: Hashable {
    let code: Code
    let offset: Int?
    var path: [String]
    let subject: String?
    let systemError: Int32?
    var location: String?
  }

  private indirect enum Boxed: Hashable {
    case parts(Parts)
  }

  /// The kind of a failure.
  ///
  /// More kinds may come; handle unknown ones.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as in `damaged`.
    public let description: String
    /// What happened and what to do.
    fileprivate let advice: String

    private init(_ name: String, _ advice: String) { (description, self.advice) = (name, advice) }

    /// The bytes do not begin as an archive does.
    public static let notAnArchive = Code(
      "notAnArchive", "This is not an archive. Check that the path names the right file.")

    /// The archive has a major version that this library does not know.
    public static let unsupportedVersion = Code(
      "unsupportedVersion",
      "The archive has another version of the format. Open it with the app that wrote it.")

    /// The archive needs a feature that this library does not know.
    public static let unsupportedFeature = Code(
      "unsupportedFeature",
      "The archive uses a feature that this version does not know. Update the app to open it.")

    /// A byte differs from the written one; nothing of the damaged part is used.
    public static let damaged = Code(
      "damaged",
      "The archive was changed or damaged after it was written. Restore it from a backup,"
        + " or write another one.")

    /// The archive ends before it should.
    public static let truncated = Code(
      "truncated", "The archive ends too early. Restore it from a backup, or write another one.")

    /// No slot of the archive opens with this key.
    public static let wrongKey = Code(
      "wrongKey",
      "The key does not open this archive. Use the key that it was written with, or move"
        + " away the archive if it belongs to another app.")

    /// No slot that was tried opens with this passphrase.
    public static let wrongPassphrase = Code(
      "wrongPassphrase",
      "The passphrase does not open this archive. Check how it is spelled and try again.")

    /// The passphrase has no bytes.
    public static let passphraseEmpty = Code(
      "passphraseEmpty", "An empty passphrase protects nothing. Ask for another one.")

    /// The archive would be left without a slot, so that nothing could open it.
    public static let lastSlot = Code(
      "lastSlot", "Nothing would open the archive any more. Add another key or passphrase first.")

    /// The archive has no such slot any more.
    public static let slotMissing = Code(
      "slotMissing", "The archive does not have this slot. List its slots again.")

    /// The key is right, but the archive belongs to another context.
    public static let wrongContext = Code(
      "wrongContext",
      "The archive belongs to another application, state or user. Open it with the context"
        + " that it was written with.")

    /// A value, a record or the file is larger than ``ArchiveLimits`` allows.
    public static let limitExceeded = Code(
      "limitExceeded", "A limit was exceeded. Store less in one piece, or raise the limit.")

    /// The content is authentic, but not well formed.
    public static let malformed = Code(
      "malformed",
      "The content breaks the rules of the format. The program that wrote it has a bug.")

    /// The key holds a value of another type.
    public static let typeMismatch = Code(
      "typeMismatch", "The stored value has another type. Decode it as the type it was encoded as.")

    /// The stored number does not fit into the requested type.
    public static let numberOutOfRange = Code(
      "numberOutOfRange", "The stored number does not fit. Decode it as a wider type.")

    /// A required key is absent.
    public static let keyNotFound = Code(
      "keyNotFound", "There is no value for this key. Use decodeIfPresent where it may be absent.")

    /// A directory, FIFO, device or symbolic link stands where the file should be.
    public static let notAFile = Code(
      "notAFile", "The path does not name a regular file. Move away what is there.")

    /// The operating system does not allow the access.
    public static let permissionDenied = Code(
      "permissionDenied",
      "There is no permission. Check the owner and the mode of the file and its directory.")

    /// There is no space left, or a quota is used up.
    public static let storageFull = Code(
      "storageFull", "The disk is full. Free some space and save again; the old file is unchanged.")

    /// The change is in its place, but the system could not put it on stable
    /// storage, so a power cut may undo it.
    public static let notDurable = Code(
      "notDurable",
      "The change is written, but a power cut may undo it. Check the disk, then save again.")

    /// The operating system reports another failure.
    public static let inputOutput = Code(
      "inputOutput", "Reading or writing failed. Check the disk and the path.")

    /// The store for the archives of several machines does not answer, or refuses.
    public static let storeUnavailable = Code(
      "storeUnavailable",
      "The store that has the states cannot be used. What is there is unchanged, or has"
        + " what was sent to it; try again.")

    /// Another writer has the archive open.
    public static let locked = Code(
      "locked", "The archive is being changed elsewhere. Close the other writer, then try again.")

    /// The records were built for an earlier state of the archive, or another
    /// writer has changed the stored archive.
    public static let outdated = Code(
      "outdated",
      "The archive has changed meanwhile. Build the records again with a new builder, or"
        + " open the archive again if somebody else has changed it.")

    /// The writer was opened before this process was made by a fork.
    public static let forked = Code(
      "forked", "The archive was opened by the parent process. Open it again in this one.")

    /// A write or sync failed before, so the bytes on the disk are unknown.
    public static let poisoned = Code(
      "poisoned",
      "An earlier change may not be on the disk. Write the archive anew, with compact or rewrite.")

    /// The key that opens the archive is not there.
    public static let keyMissing = Code(
      "keyMissing", "The key that opens this archive is not there. Put it in its place.")

    /// The key exists but cannot be read yet, because the device or the keyring is locked.
    public static let keyLocked = Code(
      "keyLocked", "The key is locked. Unlock the device or the keyring, then try again.")

    /// The keyring or service that keeps the key does not answer, so nobody knows
    /// whether there is a key.
    public static let keyUnavailable = Code(
      "keyUnavailable",
      "What keeps the key does not answer. Log in to the desktop or start its keyring, then"
        + " try again.")

    /// The key file is damaged, or another file is in its place.
    public static let keyDamaged = Code(
      "keyDamaged", "The key is damaged or is none. Restore it from a backup.")

    /// Another user owns the key file, or may read or change it.
    public static let keyExposed = Code(
      "keyExposed",
      "The key file is open to others, or theirs. Make it yours with chown and chmod 600.")

    /// libsodium could not be started, or the system gave no secret memory.
    public static let cryptographyUnavailable = Code(
      "cryptographyUnavailable", "libsodium could not start. Check its installation.")

    /// The encoder was used outside the call that it was made for.
    public static let encoderClosed = Code(
      "encoderClosed", "An encoder was used after its record was finished. Do not keep encoders.")
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
