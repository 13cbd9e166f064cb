import CatalogModel
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

extension WebCatalog {
  @Sendable func makeTab(_ request: Request, _ context: SessionContext) async throws -> Response {
    _ = try await forms.read(Plain.self, request, context)
    let user = try context.user
    return pages.redirect(to: "/tabs/\(try await tabs.make(of: user))")
  }

  @Sendable func showTab(_ request: Request, _ context: SessionContext) async throws -> Response {
    let id = try context.randomName("tab")
    guard context.session.user != nil else { return try signInPage(context.session) }
    let user = try context.user
    if let query = request.uri.query, !query.isEmpty {
      guard !request.isLedByAnotherSite else { throw WebProblem.otherSite }
      guard !request.isOfNoUser else { throw WebProblem.notAskedYet }
      let shown = try forms.read(Shown.self, query: query)
      try await tabs.with(id, of: user) { tab in
        try await tab.change { content in
          try content.show(search: shown.search)
          content.show(product: shown.product.flatMap(UUID.init))
          content.show(tab: shown.detail.flatMap(DetailTab.init))
        }
      }
      return pages.redirect(to: "/tabs/\(id)")
    }
    try await refreshProducts()
    let content = try await tabs.with(id, of: user) { try await $0.content() }
    return try pages.page(
      "tab",
      content.page(
        id, of: user, token: context.session.formToken(signatures), await products.products))
  }

  /// The answer comes after the save: what it acknowledges is stored.
  @Sendable func takeChange(
    _ request: Request, _ context: SessionContext
  ) async throws -> Response {
    let id = try context.randomName("tab")
    let user = try context.user
    let change = try await forms.readJSON(TabChange.self, request, context)
    try change.check()
    let (revision, refused) = try await tabs.with(id, of: user) { try await $0.change(change) }
    guard refused.isEmpty else {
      let problem = WebProblem.changedSince
      return pages.json(
        Refusal(
          problem: problem.sentence, revision: "\(revision)", changed: refused.map(\.rawValue)),
        status: problem.status)
    }
    return pages.json(["revision": "\(revision)"])
  }

  @Sendable func closeTab(_ request: Request, _ context: SessionContext) async throws -> Response {
    let id = try context.randomName("tab")
    _ = try await forms.read(Plain.self, request, context)
    try await tabs.with(id, of: context.user) { try await $0.discard() }
    return pages.redirect(to: "/")
  }

  /// Tells a page what happens, until it goes, its user signs out or the server ends.
  @Sendable func tellEvents(
    _ request: Request, _ context: SessionContext
  ) async throws -> Response {
    let id = try context.randomName("tab")
    let stream = try streams.begin(of: context.user)
    let events = try await tabs.with(id, of: context.user) { try await $0.events() }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        defer { stream.end() }
        try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
        let beats = events.withHeartbeat(every: settings.heartbeat)
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          for await event in beats.cancelOnGracefulShutdown() {
            if event == nil, try await !accounts.has(context.session) { break }
            try await writer.write(ByteBuffer(string: event?.text ?? ":\n\n"))
          }
        }
        try await writer.finish(nil)
      })
  }
}

extension Request {
  /// Whether a page of another site has the browser ask this, with the cookie of its user.
  ///
  /// Browsers have said so since 2023, over TLS and on the machine itself, and no page can say it
  /// in their place. A link has no token of its own: that would be in histories and in logs.
  fileprivate var isLedByAnotherSite: Bool {
    let site = headers.first { $0.name.canonicalName == "sec-fetch-site" }?.value
    return !["same-origin", "none", nil].contains(site)
  }

  /// Whether a browser asks for a page that its user may want to see later.
  fileprivate var isOfNoUser: Bool {
    headers.contains { field in
      ["sec-purpose", "purpose", "x-purpose", "x-moz"].contains(field.name.canonicalName)
        && ["prefetch", "prerender", "preview"].contains { field.value.lowercased().contains($0) }
    }
  }
}

/// What is not taken of a message: another page has changed these values since.
private struct Refusal: Encodable {
  let problem: String
  let revision: String
  let changed: [String]
}

/// What a link or the search shows.
private struct Shown: Decodable {
  var search: String?
  var product: String?
  var detail: String?
}

extension TabContent {
  mutating func show(search: String?) throws {
    guard let search, search != list.search else { return }
    guard TabChange.isText(search, upTo: TabChange.longestLine) else { throw WebProblem.invalid }
    list = ProductList.State(search: search)
  }

  mutating func show(product: UUID?) {
    guard let product, product != window.product else { return }
    window.product = product
    detail.scroll = 0
  }

  mutating func show(tab: DetailTab?) {
    guard let tab, tab != detail.tab else { return }
    detail = ProductDetail.State(tab: tab)
  }
}
