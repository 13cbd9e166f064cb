public import ArchiveCodec
public import RestorationKit

/// The older states beside a state, for tools that look at them without the app.
///
/// ``putBack(_:)`` and ``remove(_:)`` change files. They take the lock of the state, and wait up to a
/// second for an app that is about to end.
public struct StateHistory: Sendable {
  private let source: StateFile.Source
  private let directory: any StateDirectory

  /// Names a state, which need not be stored.
  ///
  /// - Parameters:
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  ///   - directory: Where the state is.
  ///   - key: The key of the state; nil if nobody has it.
  public init(
    of name: String, in application: String, at directory: any StateDirectory,
    key: ArchiveKey? = nil
  ) {
    self.directory = directory
    source = StateFile.Source(
      name: name, application: application, directory: directory, keys: GivenKey(key: key),
      environment: ApplicationEnvironment())
  }

  private struct GivenKey: KeyProvider {
    let key: ArchiveKey?

    func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? { key }
  }

  private var moments: MomentStore { directory.moments(of: source.name) }

  /// Lists the older states, the oldest first.
  ///
  /// - Returns: The moments; none if the state has none.
  /// - Throws: `ArchiveError` of the system.
  public func all() throws(ArchiveError) -> [Moment] { try moments.all() }

  /// Opens an older state; nil if it is gone.
  ///
  /// - Parameters:
  ///   - moment: One of ``all()``.
  ///   - credential: The key or passphrase that opens it.
  /// - Returns: The state, or nil.
  /// - Throws: As ``StoredState/open(_:named:of:with:limits:)``.
  public func state(
    at moment: Moment, with credential: ArchiveCredential
  ) throws(ArchiveError) -> StoredState? {
    guard let file = try moments.file(of: moment) else { return nil }
    return try StoredState.open(
      moments.storage(of: moment), file,
      StoredState.context(of: source.name, in: source.application), credential)
  }

  /// Makes an older state the stored one again; the one that is stored becomes a moment.
  ///
  /// The moment stays, and what was put back is restored whatever its age, and as if no restore of it
  /// had crashed, if there is a key.
  ///
  /// - Parameter moment: One of ``all()``.
  /// - Throws: `ArchiveError` with `locked` if an app has the state, `truncated` if a part of the moment
  ///   is gone, and the errors of the storage.
  public func putBack(_ moment: Moment) throws(ArchiveError) {
    try file().putBack(moment)
  }

  /// Removes older states; one that is gone is not an error.
  ///
  /// - Parameter moments: Some of ``all()``.
  /// - Throws: `ArchiveError` with `locked` if an app has the state, and the errors of the storage.
  public func remove(_ moments: [Moment]) throws(ArchiveError) {
    try file().remove(moments)
  }

  /// The file of the state, which removes nothing that the app would keep longer.
  private func file() -> StateFile {
    let file = StateFile(source)
    file.conditions.policy.historyCounts = Dictionary(
      uniqueKeysWithValues: Moment.Reason.allCases.map { ($0, .max) })
    file.conditions.policy.historyByteCount = .max
    file.conditions.policy.historyAge = .infinity
    return file
  }
}
