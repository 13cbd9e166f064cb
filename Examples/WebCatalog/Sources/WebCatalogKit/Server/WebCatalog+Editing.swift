import CatalogModel
import Foundation
import Hummingbird

extension WebCatalog {
  @Sendable func edit(_ request: Request, _ context: SessionContext) async throws -> Response {
    struct Fields: Decodable {
      let `do`: String
      var product: String?
      var title: String?
      var description: String?
      /// The mark of the words that the page has shown as changed meanwhile.
      var seen: String?
    }
    let id = try context.randomName("tab")
    let user = try context.user
    let fields = try await forms.read(Fields.self, request, context)
    let (title, description) = (fields.title, fields.description?.withPlainLineEnds)
    guard TabChange.isText(title ?? "", upTo: TabChange.longestLine),
      TabChange.isText(description ?? "", upTo: TabChange.longestText)
    else { throw WebProblem.invalid }
    let product = fields.product.flatMap(UUID.init)
    switch fields.do {
    case "begin":
      try await refreshProducts()
      let products = await products.products
      try await tabs.with(id, of: user) { tab in
        try await tab.change { try $0.beginEdit(products) }
      }
    case "leave":
      try await tabs.with(id, of: user) { tab in
        try await tab.change { try $0.endEdit(of: product) }
      }
    case let button:
      let choice = WordsChoice(rawValue: button)
      guard button == "save" || choice != nil else { throw WebProblem.invalid }
      try await tabs.with(id, of: user) { tab in
        // They are stored whatever comes of the rest.
        try await tab.change {
          try $0.type(title: title, description: description, of: product)
        }
        if let choice {
          try await choose(choice, tab, product, seen: fields.seen)
        } else {
          try await save(tab, product)
        }
      }
    }
    return pages.redirect(to: "/tabs/\(id)")
  }

  private func choose(
    _ choice: WordsChoice, _ tab: CatalogTab, _ product: UUID?, seen mark: String?
  ) async throws {
    let (product, present) = try await words(of: product)
    try await tab.change { try $0.choose(choice, present, seen: mark, of: product) }
    if choice == .mine { try await save(tab, product) }
  }

  /// Saves the words of the editor for all users.
  ///
  /// If somebody has saved others that the user has not seen, nothing is saved: the page shows
  /// both, and asks.
  private func save(_ tab: CatalogTab, _ product: UUID?) async throws {
    let (product, present) = try await words(of: product)
    try await tab.change { try $0.beginSave(over: present, of: product) }
    guard let editor = try await tab.content().editor, editor.product == product
    else { throw WebProblem.otherEditor }
    do {
      await tell(try await products.save(editor, of: product))
    } catch is WordsHaveChanged {
      return
    }
    try await tab.change { $0.endEdit(of: product, saved: editor.words) }
  }

  /// The product of an editor, and its words now.
  private func words(of product: UUID?) async throws -> (product: UUID, present: ProductEdit) {
    try await refreshProducts()
    guard let product, let present = await products.products[product]?.words
    else { throw WebProblem.otherEditor }
    return (product, present)
  }
}

extension String {
  /// Browsers send the lines of forms with two characters at their ends.
  fileprivate var withPlainLineEnds: String { replacing("\r\n", with: "\n") }
}
