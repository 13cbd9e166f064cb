import CatalogModel
import ArchiveCodec
import ProductCatalogKit
import RestorationKit
import XCTest

/// Launches of the app, one after another, over one stored state.
@MainActor final class Launches {
  /// An app that has ended, as it was then.
  struct Launch {
    let windows: Windows
    /// The one in the window with the focus.
    let navigation: NavigationStack
    /// That of the window that has the focus at the beginning.
    let report: RestorationReport?
    let notice: String?
    let screen: String
    /// The titles of all windows that are stored, the one that was used last first.
    let titles: [String?]
  }

  static let application = "org.restorationkit.product-catalog"

  private(set) var store = MemoryStateDirectory()
  let keys: ArchiveKey

  init() throws {
    keys = try ArchiveKey()
  }

  /// The file of all windows, by its name.
  var windowFiles: [String] {
    get throws { try store.names().filter { $0 == "main" } }
  }

  /// The older states that stay.
  var setAside: [[UInt8]] {
    get throws {
      try store.names().filter { $0.hasPrefix("main.history-") }.sorted()
        .compactMap { store.memory(named: $0).bytes }
    }
  }

  /// The file of the only window.
  var windowFile: MemoryStorage? {
    get throws { try windowFiles.first.map { store.memory(named: $0) } }
  }

  /// The process dies: its files stay, its locks go.
  ///
  /// A host that the test still holds ends nothing in them any more.
  func crash() throws {
    let left = store
    store = MemoryStateDirectory()
    for name in try left.names() {
      store.memory(named: name).bytes = left.memory(named: name).bytes
    }
  }

  func keeper(for catalog: Catalog) throws -> StateKeeper {
    try .ofCatalog(catalog, store: store, keys: keys)
  }

  func run(
    _ script: String = "", on catalog: Catalog, size: Size = Size(columns: 60, rows: 12)
  ) async throws -> Launch {
    let restoration = WindowRestoration(of: catalog, keeper: try keeper(for: catalog))
    try await restoration.restore()
    let report = restoration.host.connectedScenes.first?.restoration
    let notice = restoration.notice
    let console = ScriptedConsole(try Script(script), size: size) { _ in }
    _ = await App(windows: restoration.windows, console: console).run(keeping: restoration)
    return Launch(
      windows: restoration.windows,
      navigation: try XCTUnwrap(restoration.windows.focused).navigation, report: report,
      notice: notice,
      screen: WindowFrame(size: size).draw(restoration.windows).plainText,
      titles: restoration.host.openSessions.map(\.title))
  }

  /// Stores trees as those of one window; the keeper knows their classes.
  func store(_ roots: [any RestorableNode], by keeper: StateKeeper) async throws {
    let host = SceneHost(keeper)
    let scene = FixedScene()
    scene.roots = roots
    host.register(SceneConfiguration { scene })
    try await host.launch()
    try await host.save(try await host.open())
    await host.close()
  }
}

/// A scene whose nodes are given, and that says when it connects.
@MainActor final class FixedScene: @MainActor SceneDelegate {
  var roots: [any RestorableNode] = []
  var onConnect = {}

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    onConnect()
  }

  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { roots }
}
