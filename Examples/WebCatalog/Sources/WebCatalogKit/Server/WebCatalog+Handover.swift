import Foundation
import Hummingbird
import RestorationKit

extension WebCatalog {
  @Sendable func makeLink(_ request: Request, _ context: SessionContext) async throws -> Response {
    let id = try context.randomName("tab")
    _ = try await forms.read(Plain.self, request, context)
    let user = try context.user
    guard let address = address(request) else { throw WebProblem.noPublicAddress }
    let content = try await tabs.with(id, of: user) { try await $0.content() }
    let link = try await handovers.offer(content.activity, of: user)
    return try pages.page(
      "link",
      [
        "title": "Continue on another device", "user": user.name, "tab": id.description,
        "link": "\(address)/continue/\(link)",
      ])
  }

  /// Where browsers find this site.
  ///
  /// A request may name any host, and a link to that would give its token away. So without an
  /// address of its own, the site has only one for browsers on its machine.
  private func address(_ request: Request) -> String? {
    if let address = settings.publicAddress { return address }
    let host = (request.head.authority ?? "").lowercased()
    guard host.wholeMatch(of: /(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?/) != nil else {
      return nil
    }
    return "\(settings.usesSecureCookies ? "https" : "http")://\(host)"
  }

  /// Asks before it takes anything: programs that show what a link leads to open it, too.
  @Sendable func showLink(_ request: Request, _ context: SessionContext) async throws -> Response {
    let link = try context.randomName("link")
    guard context.session.user != nil else {
      return try signInPage(context.session, next: link.description)
    }
    let user = try context.user
    _ = try await handovers.look(link, as: user)
    return try pages.page(
      "continue",
      [
        "title": "Continue here", "user": user.name, "link": link.description,
        "token": context.session.formToken(signatures),
      ])
  }

  @Sendable func takeLink(_ request: Request, _ context: SessionContext) async throws -> Response {
    struct Fields: Decodable {
      let link: String
    }
    let fields = try await forms.read(Fields.self, request, context)
    guard let link = RandomName(fields.link) else { throw WebProblem.linkUsed }
    let user = try context.user
    let offer = try await handovers.look(link, as: user)
    var content = TabContent()
    content.take(offer.activity)
    // The tab is stored first, so that a kill in between loses nothing.
    let id = try await tabs.make(of: user, showing: content)
    guard try await handovers.take(offer) else {
      try await tabs.with(id, of: user) { try await $0.discard() }
      throw WebProblem.linkUsed
    }
    return pages.redirect(to: "/tabs/\(id)")
  }
}
