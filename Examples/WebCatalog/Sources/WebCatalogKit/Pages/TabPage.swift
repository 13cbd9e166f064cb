import CatalogModel
import Foundation
import RestorationDrafts

extension TabContent {
  /// More than a line has room for.
  private static let longestSentence = 200

  /// What the template of a tab shows.
  func page(_ id: RandomName, of user: User, token: String, _ products: Products) -> [String: Any] {
    let found = products.matching(list.search)
    var page: [String: Any] = [
      "title": window.product.flatMap { products[$0]?.title } ?? "Catalog",
      "tab": id.description, "user": user.name, "token": token,
      "revision": "\(window.revision)",
      "search": list.search, "listScroll": "\(list.scroll)", "listWidth": "\(window.listWidth)",
      "detailScroll": "\(detail.scroll)",
      "focus": window.focus?.field.rawValue ?? "",
      "focusStart": "\(window.focus?.start ?? 0)", "focusEnd": "\(window.focus?.end ?? 0)",
      "found": found.count == 1 ? "1 product" : "\(found.count) products",
      "products": found.map { row($0, id) },
    ]
    if let product = window.product.flatMap({ products[$0] }) {
      page["product"] = productPage(product, id, token, products)
    }
    if let editor, let product = editor.product.flatMap({ products[$0] }) {
      page["editor"] = editorPage(editor, product, id, token)
    }
    return page
  }

  private func row(_ product: Product, _ id: RandomName) -> [String: Any] {
    [
      "title": product.title,
      "sentence": product.firstSentence.beginning(upTo: Self.longestSentence),
      "address": "/tabs/\(id)?product=\(product.id)",
      "isCurrent": product.id == window.product,
    ]
  }

  private func productPage(
    _ product: Product, _ id: RandomName, _ token: String, _ products: Products
  ) -> [String: Any] {
    [
      "tab": id.description, "token": token,
      "title": product.title, "package": product.package,
      "canEdit": editor?.product != product.id && editor?.isChanged != true,
      "tabs": DetailTab.allCases.map { tab -> [String: Any] in
        [
          "title": tab.title, "address": "/tabs/\(id)?detail=\(tab.rawValue)",
          "isCurrent": tab == detail.tab,
        ]
      },
      "text": detail.tab == .info ? [product.description] : [],
      "facts": detail.tab == .details
        ? products.facts(of: product).map { ["label": $0.label, "value": $0.value] } : [],
      "related": detail.tab == .related
        ? products.related(to: product).map { row($0, id) } : [],
    ]
  }

  private func editorPage(
    _ editor: ProductEditor.State, _ product: Product, _ id: RandomName, _ token: String
  ) -> [String: Any] {
    var page: [String: Any] = [
      "tab": id.description, "token": token,
      "title": editor.words.title, "description": editor.words.description,
      "scroll": "\(editor.scroll)", "product": "\(product.id)", "package": product.package,
    ]
    if editor.state(given: product.words) == .conflict {
      page["meanwhile"] = [
        "title": product.title, "description": product.description, "seen": product.words.mark,
        "hasNoRoom": editor.both(with: product.words) == nil,
      ]
    }
    return page
  }
}

extension String {
  /// Its characters as far as they have so many UTF-16 code units, and a sign that more are there.
  fileprivate func beginning(upTo limit: Int) -> String {
    guard utf16.count > limit else { return self }
    var length = 0
    return prefix {
      length += $0.utf16.count
      return length <= limit
    } + "…"
  }
}
