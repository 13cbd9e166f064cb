// An app that has begun.

import Foundation
import RestorationKit

struct Product { var id: UUID }

struct Catalog {
  func product(_ id: UUID) -> Product? { Product(id: id) }
}

struct Logger {
  func error(_ text: String) {}
}

@MainActor
final class NoteScreen: @MainActor RestorableScreen {
  @Restored var draft = ""
}

@MainActor
final class DetailScreen: @MainActor RestorableScreen {
  @Restored var title = ""

  init(_ product: Product? = nil) {}
}

@MainActor
final class FindScreen: @MainActor StatefulNode {
  struct State: Codable { var word = "" }

  var restorableState: State

  init(_ state: State) { restorableState = state }
}

@MainActor
final class EditorTab: @MainActor RestorableScreen {
  @Restored var text = ""
}

@MainActor
final class TabScreen: @MainActor RestorableScreen {
  var restorationChildren: [any RestorableNode] = []
}

@MainActor
final class NoteWindow: @MainActor SceneDelegate {}

@MainActor
final class CatalogScene: @MainActor SceneDelegate {
  init(_ catalog: Catalog) {}
}

struct EditorView {
  @Restored("text") var text = ""
}

@MainActor
func frame(
  keeper: StateKeeper, host: SceneHost, scene: RestorableScene, autosave: Autosave,
  window: NoteScreen, screen: NoteScreen, editor: NoteScreen, tabs: TabScreen,
  catalog: Catalog, product: Product, logger: Logger
) async throws {
  // The block stands here.
}
