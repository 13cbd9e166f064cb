import CatalogModel
import CGtk
import Foundation
import RestorationGTK
import RestorationKit

/// One window as a scene.
@MainActor
final class CatalogScene: @MainActor SceneDelegate {
  static let activityType = "org.restorationkit.desktop-catalog.product"
  private static let productKey = "product"

  private let catalog: Catalog
  private let application: ObjectPointer
  private let windows: SceneWindows
  private(set) var node: WindowNode?

  init(_ catalog: Catalog, _ application: ObjectPointer, _ windows: SceneWindows) {
    self.catalog = catalog
    self.application = application
    self.windows = windows
  }

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    let window = CatalogWindow(catalog, application: application)
    node = WindowNode(window) { [weak scene, windows] in scene.map(windows.noteChange) }
    // Before the window is closed; the last one comes back with its words.
    connect(
      window.window, "close-request",
      answering: { [unowned window, windows] _ in
        guard windows.count > 1, window.editor.hasChanges else { return false }
        window.editor.leave { gtk_window_close(window.window.of()) }
        return true
      })
    windows.add(window.window, for: scene)
    // Others may show the same product.
    window.editor.ended = { [windows] in
      for scene in windows.host.connectedScenes {
        (scene.delegate as? CatalogScene)?.node?.window.show()
      }
    }
    if let id = options.userActivities.first?.userInfo[Self.productKey]?.uuidValue {
      window.list.select(id)
    }
  }

  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] {
    node.map { [$0] } ?? []
  }

  func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? {
    guard let window = node?.window else { return nil }
    let activity = UserActivity(activityType: Self.activityType)
    activity.title = window.title
    if let id = window.list.selectedProduct?.id { activity.userInfo[Self.productKey] = .uuid(id) }
    return activity
  }
}

/// What of a window is restored.
@MainActor
final class WindowNode: @MainActor RestorableNode {
  let restorationIdentifier: String? = "window"
  let restorationViews: [any RestorableView]
  let restorationChildren: [any RestorableNode]
  let window: CatalogWindow

  init(_ window: CatalogWindow, changed: @escaping @MainActor () -> Void) {
    self.window = window
    let (list, detail) = (window.list, window.detail)
    restorationViews = [
      WindowSize(window.window, changed: changed),
      PanedPosition(window.paned, restorationIdentifier: "panes", changed: changed),
      EditedLine(window.search, restorationIdentifier: "search", changed: changed),
      RestorableRows(
        selection: list.selection, in: list.widget, restorationIdentifier: "list",
        identifiers: { list.identifiers }, changed: changed),
      KeyboardFocus(in: window.window, changed: changed),
    ]
    let pages = detail.pages.map { tab, scrolled in
      RestorablePages.Page(
        tab.rawValue,
        views: [ScrolledPlace(scrolled, restorationIdentifier: "text", changed: changed)])
    }
    restorationChildren = [
      RestorablePages(
        detail.stack, restorationIdentifier: "pages", pages: pages, changed: changed),
      EditorNode(window, changed: changed),
    ]
  }
}

/// The words that are being edited, which nobody has saved yet.
@MainActor
final class EditorNode: @MainActor StatefulNode, @MainActor RestorablePresenter {
  let restorationIdentifier: String? = "editor"
  let restorationViews: [any RestorableView]
  private let window: CatalogWindow
  private var editor: ProductEditor { window.editor }

  init(_ window: CatalogWindow, changed: @escaping @MainActor () -> Void) {
    self.window = window
    let editor = window.editor
    restorationViews = [
      EditedLine(editor.title, restorationIdentifier: "title", changed: changed),
      EditedText(editor.text, restorationIdentifier: "description", changed: changed),
      ScrolledPlace(editor.scrolled, restorationIdentifier: "scroll", changed: changed),
    ]
    editor.changed = changed
  }

  /// The product that is being edited.
  ///
  /// One that the catalog does not have any more is not.
  var restorableState: UUID? {
    get { editor.productID }
    set {
      guard let newValue else { return }
      editor.begin(newValue)
      window.show()
      if let restoredQuestion { editor.ask(restoredQuestion) }
    }
  }

  private var restoredQuestion: LeaveQuestion?

  var restorationPresented: (any RestorableNode)? { editor.question }

  func restorePresented(_ node: any RestorableNode) {
    // It is asked again when it is known what is being edited.
    restoredQuestion = node as? LeaveQuestion
  }
}

extension LeaveQuestion: @MainActor RestorableNode {
  var restorationIdentifier: String? { "leave" }

  var restorationViews: [any RestorableView] { [focus] }
}
