import CatalogModel
import CGtk
import Foundation
import RestorationDrafts
import RestorationGTK
package import RestorationKit

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
    window.editor.updated = { [windows] in
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
package final class WindowNode: @MainActor RestorableNode {
  package let restorationIdentifier: String? = "window"
  package let restorationViews: [any RestorableView]
  package let restorationChildren: [any RestorableNode]
  let window: CatalogWindow

  package init(_ window: CatalogWindow, changed: @escaping @MainActor () -> Void) {
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
final class EditorNode: @MainActor StatefulNode {
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

  private static let draftKey = "draft"
  private var restoredID: UUID?
  /// What is being edited, until the fields have their words, too.
  private var restored: (id: UUID, draft: Draft<ProductEdit>)?
  private var restoredQuestion: LeaveQuestion?

  /// The product that is being edited.
  var restorableState: UUID? {
    get { editor.productID }
    set {
      restoredID = newValue
      guard let newValue else { return }
      editor.begin(newValue)
      show()
    }
  }

  func encodeRestorableState(with coder: StateEncoder) throws {
    if let draft = editor.edit?.draft { try coder.encode(draft, forKey: Self.draftKey) }
  }

  /// Goes on with the draft; its product may be gone, but the words are nowhere else.
  ///
  /// A state of an earlier version has no draft. Its words count as made from those that the product has
  /// now, because nothing says what they were made from.
  func decodeRestorableState(with coder: StateDecoder) throws {
    let draft = try coder.decodeIfPresent(Draft<ProductEdit>.self, forKey: Self.draftKey)
    guard let id = restoredID, let draft, editor.productID != nil || draft.content != draft.base
    else { return }
    restored = (id, draft)
    editor.begin(WordsEdit(draft), of: id)
    show()
  }

  /// Before the fields are restored nobody knows whether anything was typed.
  func applicationFinishedRestoringState() {
    guard let restored = restored.take() else { return }
    var edit = WordsEdit(restored.draft)
    edit.words = editor.words
    editor.begin(edit, of: restored.id)
    editor.keepKeyboard()
    window.show()
  }

  private func show() {
    window.show()
    if let restoredQuestion { editor.ask(restoredQuestion) }
  }

  var restorationPresented: (any RestorableNode)? { editor.question }

  func restorePresented(_ node: any RestorableNode) {
    // It is asked again when it is known what is being edited.
    restoredQuestion = node as? LeaveQuestion
  }
}

extension LeaveQuestion: @MainActor RestorableNode {
  package var restorationIdentifier: String? { "leave" }

  package var restorationViews: [any RestorableView] { [focus] }
}
