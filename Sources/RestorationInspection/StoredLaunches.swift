public import ArchiveCodec
public import RestorationKit

/// The notes of launches beside a state, for tools that predict the next launch.
public struct StoredLaunches: Hashable, Sendable {
  /// How many restores in a row count as crashed: they began and did not end, and neither
  /// a call of `exit` nor a restart of the machine ended them.
  public let crashCount: Int

  /// The version of the app that began the crashed restores.
  public let applicationVersion: String?

  /// The elements that restores leave out, since earlier restores crashed in them; the
  /// next restore may try one of them again.
  public let skipped: [RestorationPath]

  /// Reads the notes beside a state; a note that cannot be read counts as none, as in a launch.
  ///
  /// - Parameters:
  ///   - directory: Where the state is.
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  ///   - state: The state; notes about another state do not count.
  ///   - key: The key that opens the state and the notes.
  /// - Throws: `ArchiveError` with `wrongContext` if another file lies in the note's
  ///   place, and the errors of the storage.
  public init(
    in directory: any StateDirectory, named name: String, of application: String,
    before state: StoredState, with key: ArchiveKey
  ) throws(ArchiveError) {
    (crashCount, applicationVersion, skipped) = try LaunchMarker.launches(
      beside: name, in: directory, StoredState.context(of: name, in: application),
      before: state.archive.version, key)
  }
}

extension StoredLaunches {
  /// Reads the problems that the last save noted beside a state, by the classes that have them.
  ///
  /// A save notes up to eight lines, as `EditorScreen: encodeFailed` or `save failed: storageFull`,
  /// with the names of cases of `ReportNote` and codes of errors. They have no value and no path.
  ///
  /// - Parameters:
  ///   - directory: Where the state is.
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  ///   - key: The key that opens the state and the notes.
  /// - Returns: The lines; none if the last save had no problem, or if nothing can be read.
  public static func problemsOfLastSave(
    in directory: any StateDirectory, named name: String, of application: String,
    with key: ArchiveKey
  ) -> [String] {
    LaunchMarker.problemsOfLastSave(
      beside: name, in: directory, StoredState.context(of: name, in: application), key)
  }
}
