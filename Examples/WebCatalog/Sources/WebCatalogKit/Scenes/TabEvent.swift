import Foundation

/// What a page is told while it shows a tab.
enum TabEvent: Hashable, Sendable {
  /// The tab has this revision now; the page that made it knows, and others show it.
  case changed(revision: Int, by: String)

  /// Somebody has saved words of a product.
  case edited(UUID)

  /// Its name and data, as a browser's `EventSource` reads them.
  var text: String {
    let (name, data): (String, [String: String]) =
      switch self {
      case .changed(let revision, let page):
        ("changed", ["revision": "\(revision)", "page": page])
      case .edited(let product): ("edited", ["product": product.uuidString])
      }
    return "event: \(name)\ndata: \(JSON.text(data))\n\n"
  }
}
