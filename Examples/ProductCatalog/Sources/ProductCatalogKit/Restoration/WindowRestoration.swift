package import CatalogModel
package import RestorationKit

/// Brings the windows back at the start, opens and closes them, and keeps them stored.
///
/// Nothing that goes wrong here ends the program. It is a sentence for the user, and what was
/// stored before stays.
@MainActor package final class WindowRestoration {
  package let windows = Windows()
  package let host: SceneHost
  private let catalog: Catalog
  private let keeper: StateKeeper
  /// What was restored, window by window.
  package private(set) var report = ""
  private let tellsSaveProblems: Bool
  /// Begun by the first key: before that there is nothing to save.
  private var autosave: Autosave?

  /// What the user should know now, in plain words; nil if all is well.
  package private(set) var notice: String? {
    didSet { if notice != oldValue { noticeChanged?(notice) } }
  }

  package var noticeChanged: (@MainActor (String?) -> Void)?

  /// - Parameters:
  ///   - catalog: What the windows show.
  ///   - keeper: A keeper that knows the screens; see `StateKeeper.ofCatalog`.
  ///   - tellsSaveProblems: Whether single screens that cannot be saved well are worth a notice.
  package init(of catalog: Catalog, keeper: StateKeeper, tellsSaveProblems: Bool = false) {
    host = SceneHost(keeper)
    // What is closed for ever leaves no trace, so no earlier launch would have it.
    host.closedSceneCount = 10
    self.catalog = catalog
    self.keeper = keeper
    self.tellsSaveProblems = tellsSaveProblems
  }

  /// Brings back the windows that were stored last, or opens the first one.
  package func restore() async throws {
    let start = try await host.start(
      SceneConfiguration { [windows, catalog] in CatalogScene(catalog, in: windows) },
      declaring: [CatalogScene.activityType])
    report = "\(start)"
    notice = start.problems.first.map { "Your screens are not back. \($0.reason)" }
    if let first = keeper.otherInstances.first {
      notice = "These are windows of their own: \(first)."
    }
    // The one that was used last is the first of them.
    if let window = window(of: host.connectedScenes.first) { windows.focus(on: window) }
  }

  /// Stores the window with the focus soon; call it when something in it may have changed.
  package func noteChange() {
    scene(of: windows.focused)?.needsSave = true
    if autosave == nil {
      autosave = host.autosave { [weak self] result in self?.tell(result) }
    }
  }

  /// Stores what is not yet stored, before the program ends.
  package func finish() async {
    await saveWindows()
    do {
      try await host.terminate()
    } catch {
      notice = "Your screens are not saved. \(error)"
    }
  }

  private func tell(_ result: Result<PreservationReport, RestorationError>) {
    switch result {
    case .success(let report): notice = notice(after: report)
    case .failure(let error): notice = "Your screens are not saved. \(error)"
    }
  }

  private func notice(after report: PreservationReport) -> String? {
    if let location = report.setAside {
      return "What could not be read is in the history, as \(location)."
    }
    let problems = report.problems
    guard tellsSaveProblems, !problems.isEmpty else { return nil }
    return problems.map(\.reason).joined(separator: " ")
  }

  private func scene(of window: Window?) -> RestorableScene? {
    host.connectedScenes.first { self.window(of: $0) === window }
  }

  private func window(of scene: RestorableScene?) -> Window? {
    (scene?.delegate as? CatalogScene)?.window
  }
}

extension WindowRestoration: WindowCommands {
  /// Opens a window with the product that is in sight.
  package func openWindow() async {
    guard windows.all.count < Windows.limit else { return }
    do {
      let scene = try await host.open(
        activity: windows.focused.map { CatalogScene.activity(of: $0.navigation) })
      if let window = window(of: scene) { windows.focus(on: window) }
    } catch {
      notice = "There is no new window. \(error)"
    }
  }

  /// Stores what is not yet stored, and returns when that is done.
  package func saveWindows() async {
    await autosave?.flush()
  }

  /// Goes to the next window, which is used last from now on.
  package func focusNextWindow() async {
    guard let window = windows.next, let scene = scene(of: window) else { return }
    do {
      try await host.connect(scene.session)
      windows.focus(on: window)
    } catch {
      notice = "The window is not there. \(error)"
    }
  }

  package func earlierSessions() async -> [EarlierWindows] {
    do {
      return try await keeper.history().reversed()
    } catch {
      notice = "The windows of earlier launches cannot be listed. \(error)"
      return []
    }
  }

  /// Opens the windows of an earlier launch in place of those that are open.
  package func putBack(_ earlier: EarlierWindows) async -> String? {
    var problem: String?
    do {
      try await host.putBack(earlier)
    } catch {
      problem = "The windows of then are not back. \(error)"
    }
    // The windows that were open are gone, whether others can take their place or not.
    let failures = await host.restoreScenes()
    if let failure = failures.values.first {
      problem = problem ?? "Not all windows of then are back. \(failure)"
    }
    if host.connectedScenes.isEmpty { await openWindow() }
    if let window = window(of: host.connectedScenes.first) { windows.focus(on: window) }
    // The screen that has asked is gone with its window.
    if let problem { notice = problem }
    return nil
  }

  /// Closes the window with the focus, and forgets it; the last one stays.
  package func closeWindow() async {
    guard windows.all.count > 1, let scene = scene(of: windows.focused) else { return }
    do {
      try await host.close(scene)
      if let next = self.scene(of: windows.focused) { try await host.connect(next.session) }
    } catch {
      notice = "The window is closed, but its state is still stored. \(error)"
    }
  }
}
