import Foundation
import Hummingbird
import NIOCore

extension WebCatalog {
  func router() -> Router<SessionContext> {
    let router = Router(context: SessionContext.self)
    router.add(middleware: AnswerMiddleware(pages: pages))
    router.get("catalog.css") { _, _ in pages.file("catalog.css", "text/css; charset=utf-8") }
    router.get("catalog.js") { _, _ in
      pages.file("catalog.js", "text/javascript; charset=utf-8")
    }
    router.get("favicon.ico") { _, _ in Response(status: .noContent) }
    router.get("health") { _, _ in pages.json(["state": "up"]) }
    router.get("operators", use: showOperators)

    let site = router.group().add(middleware: sessions)
    site.get("/", use: showHome)
    site.post("sign-in", use: signIn)
    site.post("sign-out", use: signOut)
    site.post("account/remove", use: removeAccount)
    site.post("tabs", use: makeTab)
    site.get("tabs/:tab", use: showTab)
    site.get("tabs/:tab/events", use: tellEvents)
    site.post("tabs/:tab/changes", use: takeChange)
    site.post("tabs/:tab/edit", use: edit)
    site.post("tabs/:tab/link", use: makeLink)
    site.post("tabs/:tab/close", use: closeTab)
    site.get("continue/:link", use: showLink)
    site.post("continue", use: takeLink)
    return router
  }

  /// A form with nothing but its token.
  struct Plain: Decodable {}
}
