package import CatalogModel
package import Foundation

/// One product, on several tabs.
@MainActor package final class DetailScreen {
  let catalog: Catalog
  package let productID: UUID
  package let pages = DetailTab.allCases.map { TabPage(tab: $0) }
  package private(set) var tab = DetailTab.info
  /// The editor of the product, while that is on this screen.
  weak var editor: EditScreen?

  package init(catalog: Catalog, productID: UUID) {
    self.catalog = catalog
    self.productID = productID
  }

  package func select(_ tab: DetailTab) {
    self.tab = tab
  }

  var selectedPage: TabPage? {
    pages.first { $0.tab == tab }
  }
}

extension DetailScreen: @MainActor Screen {
  package var title: String {
    catalog.product(productID)?.title ?? "Unknown"
  }

  package var note: Note? {
    catalog.isEdited(productID) ? Note(text: "edited", mark: "•", style: .accent) : nil
  }

  package var keyHints: [KeyHint] {
    [
      KeyHint("Esc", "Back"), KeyHint("Tab", "Next tab"), KeyHint("↑↓", "Scroll"),
      KeyHint("e", "Edit"), KeyHint("q", "Quit"),
    ]
  }

  package func handle(_ key: Key, size: Size) -> ScreenResponse {
    switch key {
    case .escape, .backspace: return .pop
    case .text("q"): return .quit
    case .text("e"):
      guard let editor = EditScreen(catalog: catalog, productID: productID) else { return .stay }
      self.editor = editor
      return .push(editor)
    case .tab, .right: selectTab(after: 1)
    case .backTab, .left: selectTab(after: -1)
    default: scroll(by: key, size: size)
    }
    return .stay
  }

  private func selectTab(after distance: Int) {
    let tabs = DetailTab.allCases
    guard let index = tabs.firstIndex(of: tab) else { return }
    select(tabs[(index + distance + tabs.count) % tabs.count])
  }

  private func scroll(by key: Key, size: Size) {
    let window = ListWindow(count: lines(size).count, rows: pageRows(size).count)
    _ = selectedPage?.scroll(by: key, in: window)
  }
}
