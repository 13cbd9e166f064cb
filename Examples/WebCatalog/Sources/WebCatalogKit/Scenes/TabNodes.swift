import CatalogModel
import Foundation
import RestorationDrafts
import RestorationKit

/// What the user sees in one browser tab.
///
/// The nodes belong to no actor of their own: each tab has an actor, and its nodes live there.
final class TabWindow: StatefulNode {
  struct State: Codable, Hashable, Sendable {
    var begun = Date()
    /// Counts the changes, so that a page knows whether it shows the last one.
    var revision = 0
    /// Nil before the first change, and in tabs that were stored before these were noted.
    private var lastChanges: LastChanges?
    var product: UUID?
    var listWidth = 360.0
    var focus: Focus?

    var changes: LastChanges {
      get { lastChanges ?? LastChanges() }
      set { lastChanges = newValue }
    }
  }

  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "window"
  var restorableState = State() { didSet { invalidateRestorableState() } }

  let list = ProductList()
  let detail = ProductDetail()
  var editor: ProductEditor? { didSet { invalidateRestorableState() } }

  var restorationChildren: [any RestorableNode] { [list, detail] }
  var restorationPresented: (any RestorableNode)? { editor }

  func restorePresented(_ node: any RestorableNode) {
    editor = node as? ProductEditor
  }
}

/// The list of products, and what is searched in it.
final class ProductList: StatefulNode {
  struct State: Codable, Hashable, Sendable {
    var search = ""
    /// In pixels.
    var scroll = 0.0
  }

  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "list"
  var restorableState = State() { didSet { invalidateRestorableState() } }
}

/// What is shown of the selected product.
final class ProductDetail: StatefulNode {
  struct State: Codable, Hashable, Sendable {
    var tab = DetailTab.info
    /// In pixels.
    var scroll = 0.0
  }

  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "detail"
  var restorableState = State() { didSet { invalidateRestorableState() } }
}

/// Words that nobody has saved yet, in place of those of a product.
///
/// It is there only while something is edited, so a restore makes it.
final class ProductEditor: StatefulNode {
  struct State: Codable, Hashable, Sendable {
    var product: UUID?
    /// The words of the product that the user has seen: those when the edit began, or those that
    /// somebody has saved since, once the user has said what to do about them.
    var original = ProductEdit(title: "", description: "")
    var words = ProductEdit(title: "", description: "")
    /// The words of the last save; a server that was killed may have saved them without noting it.
    var saving: ProductEdit?
    /// In pixels.
    var scroll = 0.0

    /// Whether somebody has typed something that is not saved.
    var isChanged: Bool { words != original }

    /// Compares the words of the product, as they are now, with those that the user has seen.
    ///
    /// - Returns: `conflict` if a save would replace words of somebody else that the user has not
    ///   seen. Pages and saves decide with this alone.
    func state(given present: ProductEdit?) -> DraftState {
      let seen = present == saving ? saving ?? original : original
      return Draft(words, from: seen).state(given: present)
    }
  }

  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "editor"
  var restorableState = State() { didSet { invalidateRestorableState() } }

  init(_ state: State = State()) {
    restorableState = state
  }
}

/// The field that has the keyboard, and what is selected in it.
struct Focus: Codable, Hashable, Sendable {
  enum Field: String, Codable, Sendable {
    case search, title, description
    /// No field any more.
    case elsewhere
  }

  var field: Field
  /// In UTF-16 code units, as browsers count; equal where there is only a cursor.
  var start: Int
  var end: Int
}

/// What is in the nodes of a tab, for a page to show.
struct TabContent: Hashable, Sendable {
  var window = TabWindow.State()
  var list = ProductList.State()
  var detail = ProductDetail.State()
  var editor: ProductEditor.State?
}

extension TabWindow {
  /// Reads or replaces what is in all nodes; a node that stays as it is is not asked by the
  /// next save.
  var content: TabContent {
    get {
      TabContent(
        window: restorableState, list: list.restorableState, detail: detail.restorableState,
        editor: editor?.restorableState)
    }
    set {
      if newValue.window != restorableState { restorableState = newValue.window }
      if newValue.list != list.restorableState { list.restorableState = newValue.list }
      if newValue.detail != detail.restorableState { detail.restorableState = newValue.detail }
      guard newValue.editor != editor?.restorableState else { return }
      switch (editor, newValue.editor) {
      case (let editor?, let state?): editor.restorableState = state
      case (_, let state): editor = state.map(ProductEditor.init)
      }
    }
  }
}
