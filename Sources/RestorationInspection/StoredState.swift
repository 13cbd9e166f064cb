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
  public let facts: Facts?

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

  /// Opens a state, one of its generations, or one that was set aside; nil if nothing is
  /// stored.
  ///
  /// An end of the journal that is damaged or not whole is left out, as in a restore;
  /// `archive.dropped` says why.
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
    guard
      let archive = try Archive.open(
        storage, with: credential, context: context(of: name, in: application), limits: limits,
        recovery: .recover)
    else { return nil }
    return StoredState(archive)
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

  private init(_ archive: Archive) {
    self.archive = archive
    do throws(ArchiveError) {
      facts = try archive.record(NodeRecord.application).flatMap {
        (record) throws(ArchiveError) in try Self.facts(in: record, of: archive)
      }
    } catch {
      // The outline has the record among its problems.
      facts = nil
    }
  }

  static func facts(
    in application: KeyedDecoder, of archive: Archive
  ) throws(ArchiveError) -> Facts? {
    guard let facts = try NodeRecord.facts(in: application, of: archive) else { return nil }
    return Facts(
      savedAt: facts.timestamp, applicationVersion: facts.applicationVersion,
      userInterfaceIdiom: facts.userInterfaceIdiom, systemVersion: facts.systemVersion)
  }
}

// MARK: - Values

extension StoredState {
  /// The stored values of one element.
  public struct Values: Sendable {
    /// The values that the element's hook wrote; nil if it was saved without state.
    public let state: KeyedDecoder?

    /// The values that the library wrote for the element, such as the selected tab or an offset.
    public let builtIn: KeyedDecoder?

    /// The values that the library wrote for a scene: its activity and its values of
    /// `SceneStorage`.
    ///
    /// Only the application has them.
    public let host: KeyedDecoder?

    init(_ record: KeyedDecoder) throws(ArchiveError) {
      let values = try NodeRecord.values(in: record)
      (state, builtIn, host) = (values.state, values.builtIn, values.host)
    }
  }

  /// The record with the values of the application.
  public static var applicationRecord: UInt64 { NodeRecord.application }

  /// The record that names the roots.
  ///
  /// A restore needs this record and ``applicationRecord``, if they are stored.
  public static var treeRecord: UInt64 { NodeRecord.tree }

  /// Reads the stored values of one element; nil if there is no such record.
  ///
  /// - Parameter record: The record of an element, or ``applicationRecord``.
  /// - Returns: The values of the element.
  /// - Throws: `ArchiveError` with `damaged`, `malformed` or `limitExceeded`.
  /// - Complexity: O(log *n*) chunks for *n* records, and the chunks of the record.
  public func values(ofRecord record: UInt64) throws(ArchiveError) -> Values? {
    guard let stored = try archive.record(record) else { return nil }
    return try Values(stored)
  }

  /// Reads the stored values of all elements, in the order of the file.
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
    _ body: (_ record: UInt64, Result<Values, ArchiveError>) throws -> Void
  ) throws -> ArchiveError? {
    try archive.salvage { record in
      guard record.identifier != NodeRecord.tree else { return }
      try body(
        record.identifier,
        Result { () throws(ArchiveError) in try Values(record.content.get()) })
    }
  }
}
