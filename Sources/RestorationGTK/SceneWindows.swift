#if GTK
internal import CGTK4
public import RestorationKit

/// Ties the windows of a `GtkApplication` to the scenes of a host.
///
/// Make one for each app, call ``followDesktop()`` before the app runs, and ``add(_:for:)`` where
/// a scene's delegate makes its window:
///
/// | what happens | what the host is told |
/// |---|---|
/// | a window comes to the front | `connect`, so that it is the first at the next launch |
/// | a window is minimized | `background`, which saves it |
/// | the user closes a window | `close`: it does not come back |
/// | the user closes the last window, quits, logs out, or a signal ends the app | `terminate`: all windows come back |
@MainActor
public final class SceneWindows {
  /// The host of the scenes.
  public let host: SceneHost

  /// Called with what the user should know.
  public var told: (@MainActor (String) -> Void)?

  /// Called when the windows of the last launch are there, or a first one.
  public var started: (@MainActor (SceneStart) -> Void)?

  private static let unlockInterval = Duration.seconds(2)

  /// A `GtkApplication`.
  let application: ObjectPointer
  private var starting: Task<Void, Never>?
  private var autosave: Autosave?
  private var isEnding = false
  /// The scene whose window comes to the front at the start, after others that do not count.
  private var awaited: RestorableScene?

  /// Creates the tie.
  ///
  /// - Parameters:
  ///   - application: A `GtkApplication`.
  ///   - host: The host of its scenes.
  public init(_ application: ObjectPointer, host: SceneHost) {
    self.application = application
    self.host = host
  }

  /// Brings back the windows of the last launch, or opens a first one, and saves them from now
  /// on.
  ///
  /// Call it once, when the application is activated first. If there can be no window, the
  /// application ends.
  ///
  /// - Parameters:
  ///   - configuration: Makes the delegates of scenes, which make the windows.
  ///   - activityTypes: The types of activities that are stored.
  public func start(
    _ configuration: SceneConfiguration, declaring activityTypes: Set<String> = []
  ) {
    // An application without a window ends when this call returns.
    g_application_hold(application.of())
    starting = Task {
      do {
        show(try await host.start(configuration, declaring: activityTypes))
      } catch {
        told?("\(error)")
      }
      g_application_release(application.of())
    }
  }

  private func show(_ start: SceneStart) {
    autosave = host.autosave { [weak self] result in
      if case .failure(let error) = result { self?.told?("Your windows are not saved. \(error)") }
    }
    // The one that was used last comes to the front.
    awaited = host.connectedScenes.first
    for scene in host.connectedScenes.reversed() { window(of: scene).map(present) }
    Task {
      // A window manager may leave another window in front.
      try? await Task.sleep(for: .seconds(2))
      awaited = nil
      windows.first { gtk_window_is_active($0.window.of()) != 0 }.map { use($0.scene) }
    }
    if let problem = start.problems.first {
      told?("Not everything is as you left it. \(problem.reason)")
    }
    started?(start)
    if host.isLocked { waitForKey() }
  }

  /// Brings back what was locked as soon as the key can be had.
  ///
  /// No signal tells that of every place where a key may be, so it is asked for now and then.
  private func waitForKey() {
    Task { [weak self] in
      while let host = self?.host, host.isLocked {
        try? await Task.sleep(for: Self.unlockInterval)
        guard let self, !isEnding else { return }
        do {
          try await host.protectedDataDidBecomeAvailable()
          guard !host.isLocked else { continue }
          await host.restoreScenes()
          for scene in host.connectedScenes { window(of: scene).map(present) }
        } catch {
          told?("\(error)")
        }
      }
    }
  }

  // MARK: Windows

  private var windows: [(scene: RestorableScene, window: ObjectPointer)] = []

  /// How many windows there are; one that is being closed does not count.
  public var count: Int { windows.count }

  /// The window of a scene.
  ///
  /// - Parameter scene: A scene.
  /// - Returns: Its `GtkWindow`; nil if it has none.
  public func window(of scene: RestorableScene) -> ObjectPointer? {
    windows.first { $0.scene === scene }?.window
  }

  /// Ties a window to its scene; call it in `scene(_:willConnectTo:options:)`.
  ///
  /// - Parameters:
  ///   - window: A `GtkWindow`, which is not shown yet.
  ///   - scene: The scene.
  public func add(_ window: ObjectPointer, for scene: RestorableScene) {
    windows.append((scene, window))
    connect(
      window, "close-request",
      answering: { [unowned self, unowned scene] _ in
        close(scene)
        return true
      })
    connect(window, "notify::is-active") { [unowned self, unowned scene] in
      if gtk_window_is_active(window.of()) != 0 { use(scene) }
    }
    connect(window, "realize") { [unowned self, unowned scene] in
      guard let surface = gtk_native_get_surface(window.opaque) else { return }
      connect(ObjectPointer(surface), "notify::state") { [weak self, weak scene] in
        guard let self, let scene,
          gdk_toplevel_get_state(surface).rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0
        else { return }
        perform { try await self.host.background(scene) }
      }
    }
  }

  /// Shows a window and gives it the keyboard.
  private func present(_ window: ObjectPointer) { gtk_window_present(window.of()) }

  /// Opens a new window.
  ///
  /// - Parameter activity: What the user wants to do in it.
  public func open(activity: UserActivity? = nil) {
    guard !isEnding else { return }
    perform {
      let scene = try await self.host.open(activity: activity)
      self.window(of: scene).map(self.present)
    }
  }

  /// Notes that something in a window may have changed, so that it is saved soon.
  ///
  /// - Parameter scene: The scene of the window.
  public func noteChange(of scene: RestorableScene) { scene.needsSave = true }

  private func use(_ scene: RestorableScene) {
    guard awaited == nil || awaited === scene else { return }
    awaited = nil
    let isInFront =
      host.openSessions.first === scene.session && scene.activationState == .foregroundActive
    guard !isEnding, !isInFront, scene.session.scene === scene else { return }
    perform {
      try await self.host.connect(scene.session)
      self.autosave?.setNeedsSave()
    }
  }

  /// Closes a window for ever; the last one ends the app and stays stored.
  ///
  /// - Parameter scene: The scene of the window.
  public func close(_ scene: RestorableScene) {
    guard !isEnding, let window = window(of: scene) else { return }
    guard windows.count > 1 else { return quit() }
    windows.removeAll { $0.scene === scene }
    gtk_widget_set_visible(window.of(), 0)
    let delegate = scene.delegate
    perform {
      // A save that is under way may still look at the widgets, and they at the delegate.
      defer { withExtendedLifetime(delegate) { gtk_window_destroy(window.of()) } }
      try await self.host.close(scene)
    }
  }

  /// Does something that may fail, which the user is told then.
  private func perform(_ work: @escaping @MainActor () async throws -> Void) {
    Task {
      do { try await work() } catch { self.told?("\(error)") }
    }
  }

  // MARK: The end

  /// Stores what has changed, and waits for it.
  ///
  /// - Parameter limit: How long it waits at most, in seconds.
  public func saveNow(within limit: Double = 2) {
    guard let autosave else { return }
    MainLoop.wait(atMost: limit) { await autosave.flush(within: .seconds(limit)) }
  }

  /// Ends the app; all windows come back at its next launch.
  ///
  /// What has changed is stored before; that may take five seconds.
  public func quit() {
    guard !isEnding else { return }
    isEnding = true
    MainLoop.wait(atMost: 5) { [self] in
      // Windows that are on their way come back as well.
      await starting?.value
      await autosave?.flush()
      do {
        try await host.terminate()
      } catch {
        told?("Your windows are not saved. \(error)")
      }
    }
    g_application_quit(application.of())
  }
}
#endif
