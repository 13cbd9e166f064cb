public import ArchiveCodec
internal import RestorationKit
public import RestorationFoundation

extension StoredState {
  /// A window of an app, connected or not.
  public struct Window: Hashable, Sendable {
    /// The element of the window, whose roots lie below it.
    public let element: Element

    /// The title of the window's activity; nil if it has none.
    public let title: String?

    /// The role of the window; nil if its state cannot be read.
    public let role: String?

    /// The configuration that makes the window; nil for the first one of the role.
    public let configurationName: String?

    /// When the window was closed; nil for one that is open.
    public let closedAt: Date?

    /// The size of all that is stored of the window, in bytes.
    public let byteCount: Int

    /// Why nobody can read what is stored of the window itself; nil if that can be read, or is not there.
    ///
    /// Without it no launch shows the window.
    public let error: ArchiveError?
  }

  /// Reads the windows: those that are open, the one that was used last first, then those that were
  /// closed, the one that was closed last first.
  ///
  /// - Parameter outline: The elements of this state.
  /// - Returns: The windows.
  /// - Complexity: O(*n*) in the elements below them.
  public func windows(in outline: Outline) -> [Window] {
    let (document, paths) = (outline.document, StoredPaths(outline.document, namingWindows: true))
    let valueSizes = Dictionary(
      outline.values.map { ($0.window ?? "", $0.byteCount) }, uniquingKeysWith: &+)
    let windows = document.scenes.map { slot in
      let element = outline.element(at: slot, paths)
      var (stored, failure): (SceneContent?, ArchiveError?) = (nil, nil)
      do {
        stored = try values(ofRecord: element.record)?
          .decode(SceneContent.self, forKey: SceneContent.key)
      } catch {
        failure = error as? ArchiveError ?? ArchiveError(.malformed, subject: "scene")
      }
      // A date that is no number is of some time before.
      let closedAt = stored?.closedAt.map { $0.ifNumber ?? .distantPast }
      let window = Window(
        element: element, title: stored?.activity?.title, role: stored?.role,
        configurationName: stored?.configurationName, closedAt: closedAt,
        byteCount: outline.byteCount(from: slot) + (valueSizes[document[slot].place.name] ?? 0),
        error: failure)
      return (closedAt: closedAt ?? .distantFuture, turn: stored?.turn ?? 0, window)
    }
    return windows.sorted { ($0.closedAt, $0.turn) > ($1.closedAt, $1.turn) }.map(\.2)
  }
}

extension StoredState.Outline {
  /// The sizes of the states of an element and of all below it, with the unread ones, in bytes.
  fileprivate func byteCount(from slot: Int32) -> Int {
    document.walk(from: slot).reduce(0) { sum, slot in
      let unread = document.kept.bodies[slot] ?? []
      return ([document[slot].bodyRecord] + unread.map(\.record))
        .reduce(sum) { $0 + (byteCounts[$1] ?? 0) }
    }
  }
}
