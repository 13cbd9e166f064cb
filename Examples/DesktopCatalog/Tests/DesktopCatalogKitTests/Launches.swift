import ArchiveCodec
import CGtk
import CatalogModel
import DesktopCatalogKit
import DesktopTestSupport
import Foundation
import RestorationGTK
import RestorationKit
import XCTest

/// Launches of one window of the app in the process of the test, one after another over one stored state.
///
/// Nobody sees the window; it is laid out when it is shown, and works before that, too.
@MainActor
final class Launches {
  let edits: EditFile
  let productID: UUID
  private(set) var window: CatalogWindow?

  private let products: ProductFile
  private let application: ObjectPointer
  private let keys: ArchiveKey
  private var store = MemoryStateDirectory()
  private var keeper: StateKeeper?
  private var node: WindowNode?

  private static var registered: ObjectPointer?

  /// The application that the windows belong to.
  private static func application() throws -> ObjectPointer {
    if let registered { return registered }
    XCTAssertNotEqual(gtk_init_check(), 0)
    let application = ObjectPointer(
      made: gtk_application_new("test.editor", G_APPLICATION_NON_UNIQUE))
    XCTAssertNotEqual(g_application_register(application.of(), nil, nil), 0)
    registered = application
    return application
  }

  /// Begins with nothing stored, in a folder of its own.
  init(title: String = "Alpha") throws {
    let folder = try Desktop.ofThisProcess().newFile()
    application = try Self.application()
    keys = try ArchiveKey()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    productID = UUID()
    products = ProductFile(folder.appending(path: "products.json"))
    edits = EditFile(directory: folder)
    try Self.list(of: [productID: title, UUID(): "Omega"]).write(to: products.location)
  }

  private static func list(of titles: [UUID: String]) throws -> Data {
    let products: [[String: Any]] = titles.sorted { $0.value < $1.value }.map { id, title in
      [
        "id": id.uuidString, "package": title.lowercased(), "title": title,
        "description": "First of all.", "version": "1", "section": "letters", "downloadBytes": 1,
        "installedKiB": 1,
      ]
    }
    return try JSONSerialization.data(withJSONObject: ["source": "test", "products": products])
  }

  /// The catalog that another process has.
  func loadCatalog() throws -> Catalog { try Catalog(products: products, edits: edits) }

  /// The app starts with what is stored.
  ///
  /// - Returns: What was restored.
  @discardableResult
  func start() async throws -> RestorationReport {
    let window = CatalogWindow(try loadCatalog(), application: application)
    window.editor.updated = { [unowned window] in window.show() }
    let node = WindowNode(window) {}
    let keeper = try StateKeeper(application: "test.editor", directory: store, keys: keys)
    try keeper.register(LeaveQuestion.self) { _, _ in LeaveQuestion() }
    let report = try await keeper.restore(into: [node])
    (self.window, self.node, self.keeper) = (window, node, keeper)
    return report
  }

  /// The app stores what has changed.
  func save() async throws {
    guard let node else { return }
    _ = try await keeper?.save([node])
  }

  /// Stores what another version of the app has.
  func store(
    _ roots: [any RestorableNode], naming name: (StateKeeper) throws -> Void
  ) async throws {
    let keeper = try StateKeeper(application: "test.editor", directory: store, keys: keys)
    try name(keeper)
    _ = try await keeper.restore()
    _ = try await keeper.save(roots)
    try kill()
  }

  /// The process dies: what was stored stays.
  func kill() throws {
    let left = store
    store = MemoryStateDirectory()
    for name in try left.names() {
      store.memory(named: name).bytes = left.memory(named: name).bytes
    }
    end()
  }

  /// The windows go, but nothing is stored.
  func end() {
    window.map { gtk_window_destroy($0.window.of()) }
    (window, node, keeper) = (nil, nil, nil)
    while g_main_context_iteration(nil, 0) != 0 {}
  }

  /// Another version of the app comes with other products.
  func replaceProduct() throws {
    try Self.list(of: [UUID(): "Omega"]).write(to: products.location)
  }

  /// Another process saves words of the product.
  func saveElsewhere(_ words: ProductEdit) throws {
    let other = try loadCatalog()
    try other.save(words, of: productID, over: other.product(productID)?.words)
  }

  var storedWords: ProductEdit? {
    get throws { try loadCatalog().product(productID)?.words }
  }

  /// Types behind the last character of the title.
  func type(_ text: String) {
    guard let title = window?.editor.title else { return }
    var position: Int32 = -1
    gtk_editable_insert_text(
      title.opaque, text, Int32(text.utf8.count), &position)
  }
}
