public import RestorationFoundation
package import ArchiveCodec

/// The state, or the windows, that an earlier launch found, to go back to.
///
/// ``StateKeeper/savedSessions()`` and ``SceneHost/savedSessions()`` list them.
public struct SavedSession: Hashable, Sendable, Identifiable {
  /// A window of a session.
  public struct Window: Hashable, Sendable {
    /// The identifier of its ``SceneSession``.
    public let persistentIdentifier: String
    /// Its title, as the list of windows had it; nil if it had none.
    public let title: String?
  }

  /// A text that no other session of the same name has.
  public let id: String

  /// When something of the session was saved last, by the clock of the file system.
  public let date: Date

  /// The windows that were open, the one that was used last first; none for the state of a keeper.
  public internal(set) var windows: [Window] = []

  /// How many bytes its archives have.
  ///
  /// They take space of their own only as far as saves have replaced them since.
  public let byteCount: Int

  /// The name of the state.
  package let stateName: String

  package init(_ snapshot: FileSnapshots.Snapshot, ofState name: String) {
    id = snapshot.identifier
    date = snapshot.date
    byteCount = snapshot.byteCount
    stateName = name
  }
}

/// How many sessions stay to go back to, and for how long.
///
///     keeper.policy.sessions = .last(10)
///     keeper.policy.sessions = .within(.seconds(30 * 86_400))
///
/// A launch that keeps its session applies the bound; the one that it keeps stays in any case.
public struct SessionBound: Hashable, Sendable {
  /// How many stay, with that of this launch; less than 1 is as 1.
  public var count: Int

  /// How old one may become; nil for any age.
  public var age: Duration?

  /// How many bytes the archives of all sessions may have together.
  ///
  /// Each counts whole, also where it takes no space.
  public var byteCount: Int

  /// Creates a bound.
  ///
  /// - Parameters:
  ///   - count: How many sessions stay.
  ///   - age: How old a session may become; nil for any age.
  ///   - byteCount: How many bytes their archives may have together; 256 MiB by default.
  public init(count: Int, age: Duration? = nil, byteCount: Int = 1 << 28) {
    (self.count, self.age, self.byteCount) = (count, age, byteCount)
  }

  /// The last sessions, of any age.
  public static func last(_ count: Int) -> SessionBound { SessionBound(count: count) }

  /// The sessions of a time, up to 100.
  public static func within(_ age: Duration) -> SessionBound {
    SessionBound(count: 100, age: age)
  }

  /// The snapshots that the bound removes, of all in order.
  package func excess(of all: [FileSnapshots.Snapshot], at now: Date) -> [FileSnapshots.Snapshot] {
    var (left, bytes) = (max(1, count), max(0, byteCount))
    var isFull = false
    return all.enumerated().reversed().compactMap { place, snapshot in
      let isNewest = place == all.count - 1
      let isOld = age.map { now.timeIntervalSince(snapshot.date) > $0 / .seconds(1) } ?? false
      left -= 1
      // From the first that has no room on, older ones go: a gap would look like a whole list.
      isFull = isFull || left < 0 || isOld || snapshot.byteCount > bytes
      // What is said of a file may be any number.
      if !isFull { bytes -= snapshot.byteCount }
      return isFull && !isNewest ? snapshot : nil
    }
  }
}

/// Where a directory of this package keeps sessions, for the library alone.
@_documentation(visibility: internal)
public struct KeptSessions: Sendable {
  package let snapshots: FileSnapshots
  /// The name of the file of a state.
  package let fileName: @Sendable (_ stateName: String) -> String

  package init(_ snapshots: FileSnapshots, fileName: @escaping @Sendable (String) -> String) {
    (self.snapshots, self.fileName) = (snapshots, fileName)
  }

  func removeExcess(_ bound: SessionBound, at now: Date) throws(ArchiveError) {
    let excess = bound.excess(of: try snapshots.all(), at: now)
    if !excess.isEmpty { try snapshots.remove(excess) }
  }

  /// The archive of a state in a session; nil if the session is gone, or has none.
  package func storage(
    ofStateNamed name: String, in session: String
  ) throws(ArchiveError) -> (storage: any ArchiveStorage, date: Date)? {
    guard let snapshot = try snapshots.snapshot(session),
      let storage = snapshots.storage(of: fileName(name), in: snapshot)
    else { return nil }
    return (storage, snapshot.date)
  }
}
