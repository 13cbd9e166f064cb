public import ArchiveCodec
public import RestorationKit

/// The sessions beside a state, for tools that look at them without the app.
extension SavedSession {
  /// Lists the sessions that launches have kept of a state and of its windows, newest first.
  ///
  /// The list of windows is an archive of the session: `windows` is empty.
  ///
  /// - Parameters:
  ///   - directory: Where the state is.
  ///   - name: The name of the state; that of the app's state also for its windows.
  /// - Returns: The sessions; none if the directory keeps none.
  /// - Throws: `ArchiveError` of the system.
  /// - Complexity: O(*n*) in the files of the sessions.
  public static func all(
    in directory: any StateDirectory, ofStateNamed name: String
  ) throws(ArchiveError) -> [SavedSession] {
    guard let kept = directory.keptSessions(ofStateNamed: name) else { return [] }
    return try kept.snapshots.all().reversed().map { SavedSession($0, ofState: name) }
  }

  /// The names of the states in the session: that of the app, its windows and their list.
  ///
  /// - Parameter directory: Where the state is.
  /// - Returns: The names, sorted; none if the session is gone.
  /// - Throws: `ArchiveError` of the system.
  public func stateNames(in directory: any StateDirectory) throws(ArchiveError) -> [String] {
    guard let kept = directory.keptSessions(ofStateNamed: stateName),
      let snapshot = try kept.snapshots.snapshot(id)
    else { return [] }
    let end = kept.fileName("")
    return snapshot.byteCounts.keys.filter { $0.hasSuffix(end) }
      .map { String($0.dropLast(end.count)) }.sorted()
  }

  /// The archive of a state as it is in the session, which can only be read.
  ///
  /// - Parameters:
  ///   - name: One of ``stateNames(in:)``.
  ///   - directory: Where the state is.
  /// - Returns: The archive; nil if the session is gone, or does not have the state.
  /// - Throws: `ArchiveError` of the system.
  public func storage(
    ofStateNamed name: String, in directory: any StateDirectory
  ) throws(ArchiveError) -> (any ArchiveStorage)? {
    try directory.keptSessions(ofStateNamed: stateName)?
      .storage(ofStateNamed: name, in: id)?.storage
  }
}
