import ArchiveCodec
import ProductCatalogKit
import RestorationKit

/// Launches of the app, one after another, over one stored state.
@MainActor final class Launches {
  /// An app that has ended, as it was then.
  struct Launch {
    let navigation: NavigationStack
    let report: RestorationReport?
    let notice: String?
    let screen: String
  }

  let store = MemoryStateStore()
  let keys: FixedKeyProvider

  init() throws {
    keys = FixedKeyProvider(try ArchiveKey())
  }

  var storedBytes: [UInt8]? {
    get { store.memory(named: "main").bytes }
    set { store.memory(named: "main").bytes = newValue }
  }

  func keeper(for catalog: Catalog) throws -> StateKeeper {
    try .ofCatalog(catalog, store: store, keys: keys)
  }

  func run(
    _ script: String = "", on catalog: Catalog, size: Size = Size(columns: 60, rows: 12)
  ) async throws -> Launch {
    let navigation = NavigationStack(root: ProductListScreen(catalog: catalog))
    let restoration = ScreenRestoration(of: navigation, keeper: try keeper(for: catalog))
    let report = await restoration.restore()
    let notice = restoration.notice
    let console = ScriptedConsole(try Script(script), size: size) { _ in }
    _ = await App(navigation: navigation, console: console).run(keeping: restoration)
    return Launch(
      navigation: navigation, report: report, notice: notice,
      screen: ScreenFrame(size: size).draw(navigation).plainText)
  }
}
