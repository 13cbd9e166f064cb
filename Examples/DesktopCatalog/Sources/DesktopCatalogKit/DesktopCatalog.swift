import CGtk
import CatalogModel
import Foundation
import RestorationGTK
import RestorationKit
import RestorationSecretService

/// The program from its command line to its exit status.
@MainActor
public final class DesktopCatalog {
  private static let identifier = "org.restorationkit.desktop-catalog"

  private let catalog: Catalog
  private let application: ObjectPointer
  private let windows: SceneWindows
  private var isStarted = false

  private init(_ catalog: Catalog, keeper: StateKeeper) {
    self.catalog = catalog
    application = ObjectPointer(
      made: gtk_application_new(Self.identifier, G_APPLICATION_NON_UNIQUE))
    windows = SceneWindows(application, host: SceneHost(keeper))
    windows.told = { FileHandle.standardError.write(Data("desktop-catalog: \($0)\n".utf8)) }
    windows.started = { [windows] _ in
      guard let other = keeper.otherInstances.first else { return }
      windows.told?("These are windows of their own: \(other).")
    }
    windows.followDesktop()
    connect(application, "startup") { [unowned self] in
      Style.install()
      g_application_get_dbus_connection(application.of()).map(ColorScheme.follow)
      addActions()
    }
    connect(application, "activate") { [unowned self] in activate() }
  }

  /// Runs the program until the user quits.
  ///
  /// - Parameter arguments: With `--forgetful` nothing is stored. With `--keyring` the key is in
  ///   the keyring of the desktop, and otherwise in a file.
  /// - Returns: The exit status.
  public static func run(_ arguments: [String]) -> Int32 {
    if let unknown = arguments.first(where: { !["--forgetful", "--keyring"].contains($0) }) {
      return fail("There is no option “\(unknown)”. Use --forgetful or --keyring, or none.")
    }
    guard gtk_init_check() != 0 else {
      return fail("There is no display. Set DISPLAY or WAYLAND_DISPLAY, or run it with xvfb-run.")
    }
    MainLoop.attachMainActor()
    do {
      guard let products = ProductFile.bundled else { return fail("The products are not there.") }
      let data = DataDirectory.usual(environment: ProcessInfo.processInfo.environment)
      let catalog = try Catalog(products: products, edits: EditFile(directory: data))
      let keeper = try StateKeeper(
        application: identifier,
        directory: arguments.contains("--forgetful") ? MemoryStateDirectory() : nil,
        keys: arguments.contains("--keyring")
          ? SecretServiceKeyProvider(application: identifier) : nil)
      try keeper.register(LeaveQuestion.self) { _, _ in LeaveQuestion() }
      let program = DesktopCatalog(catalog, keeper: keeper)
      return withExtendedLifetime(program) {
        g_application_run(program.application.of(), 0, nil)
      }
    } catch {
      return fail("\(error)")
    }
  }

  private static func fail(_ sentence: String) -> Int32 {
    FileHandle.standardError.write(Data("desktop-catalog: \(sentence)\n".utf8))
    return 1
  }

  private func activate() {
    guard !isStarted else { return }
    isStarted = true
    let make = { [catalog, application, windows] in CatalogScene(catalog, application, windows) }
    windows.start(SceneConfiguration(makeDelegate: make), declaring: [CatalogScene.activityType])
  }

  // MARK: Keys

  private func addActions() {
    add("quit", "<Control>q") { [windows] in windows.quit() }
    add("new-window", "<Control>n") { [windows] in windows.open() }
    add("close", "<Control>w") { [unowned self] in
      _ = gtk_application_get_active_window(application.of()).map(gtk_window_close)
    }
    add("find", "<Control>f") { [unowned self] in
      _ = activeNode.map { gtk_widget_grab_focus($0.window.search.of()) }
    }
    add("edit", "<Control>e") { [unowned self] in activeNode?.window.edit() }
    add("save", "<Control>s") { [unowned self] in activeNode?.window.editor.save() }
    add("leave", "Escape") { [unowned self] in
      if let node = activeNode { return node.window.editor.leave() }
      // It is a dialog.
      _ = gtk_application_get_active_window(application.of()).map(gtk_window_close)
    }
    for (number, tab) in DetailTab.allCases.enumerated() {
      add("page-\(tab.rawValue)", "<Control>\(number + 1)") { [unowned self] in
        guard let stack = activeNode?.window.detail.stack else { return }
        gtk_stack_set_visible_child_name(stack.opaque, tab.rawValue)
      }
    }
  }

  /// What is in the window that has the keyboard.
  private var activeNode: WindowNode? {
    guard let active = gtk_application_get_active_window(application.of()) else { return nil }
    return windows.host.connectedScenes.lazy
      .compactMap { ($0.delegate as? CatalogScene)?.node }
      .first { $0.window.window == ObjectPointer(active) }
  }

  private func add(_ name: String, _ key: String, _ body: @escaping @MainActor () -> Void) {
    let action = ObjectPointer(made: g_simple_action_new(name, nil))
    connect(action, "activate", body)
    g_action_map_add_action(application.opaque, action.opaque)
    g_object_unref(action)
    let keys = [strdup(key)]
    defer { keys.forEach { free($0) } }
    var ended = keys.map { UnsafePointer<CChar>($0) } + [nil]
    gtk_application_set_accels_for_action(application.of(), "app.\(name)", &ended)
  }
}
