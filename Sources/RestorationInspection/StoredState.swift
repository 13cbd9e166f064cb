public import ArchiveCodec
internal import RestorationKit
public import RestorationFoundation

/// The stored state of an app, for tools that look at it without the app.
///
/// Opening and reading a state changes no file. An opened state stays as it was, even
/// if the app saves meanwhile.
///
///     let state = try StoredState.open(
///       FileStateDirectory(application: "org.example.notes").storage(named: "main"),
///       named: "main", of: "org.example.notes", with: .key(key))
///     try state?.outline().forEach { print($0.path, $0.className, $0.byteCount) }
public struct StoredState: Sendable {
  /// The archive in which the state lies.
  public let archive: Archive

  /// The facts about the last save; nil if they cannot be read, which the outline has
  /// among its problems.
  ///
  /// - Complexity: O(log *n*) chunks for *n* records.
  public var facts: Facts? {
    // Nothing is written from here, so nothing is lost that cannot be read.
    guard let record = try? archive.record(TreeRecord.forms),
      let facts = try? DocumentHead(record).facts
    else { return nil }
    return Facts(
      savedAt: Date(saved: archive.schema), applicationVersion: facts["applicationVersion"],
      userInterfaceIdiom: facts["userInterfaceIdiom"], systemVersion: facts["systemVersion"])
  }

  /// The facts about a save.
  public struct Facts: Hashable, Sendable {
    /// When the state was saved.
    public let savedAt: Date?
    /// The version of the app.
    public let applicationVersion: String?
    /// The kind of interface.
    public let userInterfaceIdiom: String?
    /// The version of the operating system.
    public let systemVersion: String?
  }

  /// Opens a state; nil if nothing is stored.
  ///
  /// An end of the journal that is damaged or not whole is left out, as in a restore;
  /// `archive.dropped` says why. ``StateHistory`` opens older states.
  ///
  /// - Parameters:
  ///   - storage: The storage of the state.
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  ///   - credential: The key or passphrase that opens the state.
  ///   - limits: The limits of its records.
  /// - Returns: The state, or nil if nothing is stored.
  /// - Throws: `ArchiveError` as `Archive.open` does. Damaged values of the application
  ///   are not an error.
  public static func open(
    _ storage: any ArchiveStorage, named name: String, of application: String,
    with credential: ArchiveCredential, limits: ArchiveLimits = .standard
  ) throws(ArchiveError) -> StoredState? {
    try open(storage, nil, context(of: name, in: application), credential, limits)
  }

  /// Opens a state whose file is open already, if there is one.
  static func open(
    _ storage: any ArchiveStorage, _ file: (any ArchiveFile)?, _ context: ArchiveContext,
    _ credential: ArchiveCredential, _ limits: ArchiveLimits = .standard
  ) throws(ArchiveError) -> StoredState? {
    try Archive.open(
      storage, file, with: credential, context: context, limits: limits, recovery: .recover
    ).map { StoredState(archive: $0) }
  }

  /// The context of a state, which is a part of its keys.
  ///
  /// - Parameters:
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  /// - Returns: The context of the state's archive.
  public static func context(of name: String, in application: String) -> ArchiveContext {
    ArchiveContext([application, name])
  }
}

// MARK: - Values

extension StoredState {
  /// The record with the values of the application.
  public static var applicationRecord: UInt64 { TreeRecord.application }

  /// Reads the values of one record; nil if there is no such record.
  ///
  /// They are the values that the hook of an object wrote, and under the key `RestorationKit.builtIn`
  /// those that the library wrote for it, such as the selected tab or an offset.
  ///
  /// - Parameter record: The record of an element, of an unread state or of a ``Value``, or
  ///   ``applicationRecord``.
  /// - Returns: The values.
  /// - Throws: `ArchiveError` with `damaged`, `malformed` or `limitExceeded`.
  /// - Complexity: O(log *n*) chunks for *n* records, and the chunks of the record.
  public func values(ofRecord record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    try archive.record(record)
  }

  /// Reads the stored values of the application, of all elements, of all unread states, and those with
  /// `@Restored`, in the order of the file.
  ///
  /// Damage ends nothing: a record that cannot be read is given with its error.
  ///
  /// - Parameter body: Takes the number of a record, and its values; an error of it
  ///   ends the reading.
  /// - Returns: The first damage; nil if there is none.
  /// - Throws: The errors of `body`.
  /// - Complexity: O(*n*) in the bytes; memory for one chunk or record, and 24 bytes for
  ///   each record.
  @discardableResult
  public func forEachValues(
    _ body: (_ record: UInt64, Result<KeyedDecoder, ArchiveError>) throws -> Void
  ) throws -> ArchiveError? {
    try archive.salvage { record in
      if !TreeRecord.isOfStructure(record.identifier) {
        try body(record.identifier, record.content)
      }
    }
  }
}

extension TreeRecord {
  /// Whether a record says where elements are, or what becomes of the file, and is no body.
  static func isOfStructure(_ record: UInt64) -> Bool {
    record != application && !isOfValue(record) && (record % 2 == 1 || record > application)
  }

  /// Whether a record has a value with `@Restored`.
  static func isOfValue(_ record: UInt64) -> Bool { record &>> 61 == firstValue &>> 61 }
}
