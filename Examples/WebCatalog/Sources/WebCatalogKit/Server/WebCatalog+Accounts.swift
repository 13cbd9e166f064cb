import Foundation
import Hummingbird
import RestorationKit

extension WebCatalog {
  @Sendable func showHome(_ request: Request, _ context: SessionContext) async throws -> Response {
    guard let user = context.session.user else { return try signInPage(context.session) }
    let stored = try await tabs.names(of: user)
    return try pages.page(
      "home",
      [
        "title": "Catalog", "user": user.name, "token": context.session.formToken(signatures),
        "none": stored.isEmpty,
        "tabs": stored.enumerated().map { number, id in
          [
            "title": "Tab \(number + 1)", "about": String("\(id)".prefix(8)),
            "address": "/tabs/\(id)",
          ]
        },
      ])
  }

  func signInPage(
    _ session: Session, next: String = "", _ problem: WebProblem? = nil
  ) throws -> Response {
    try pages.page(
      "sign-in",
      [
        "title": "Catalog", "token": session.formToken(signatures), "next": next,
        "problem": [problem?.sentence].compactMap(\.self),
      ], status: problem?.status ?? .ok)
  }

  @Sendable func signIn(_ request: Request, _ context: SessionContext) async throws -> Response {
    struct Fields: Decodable {
      let name: String
      let passphrase: String
      var next: String?
    }
    let fields = try await forms.read(Fields.self, request, context)
    let user: User
    do {
      user = try await accounts.signIn(fields.name, passphrase: fields.passphrase)
    } catch let problem as WebProblem where [.badName, .wrongPassphrase].contains(problem) {
      return try signInPage(context.session, next: fields.next ?? "", problem)
    }
    var response: Response
    if let link = RandomName(fields.next) {
      response = pages.redirect(to: "/continue/\(link)")
    } else {
      let stored = try await tabs.names(of: user)
      response =
        stored.isEmpty
        ? pages.redirect(to: "/tabs/\(try await tabs.make(of: user))") : pages.redirect(to: "/")
    }
    // Never the one from before: somebody may know that.
    try await accounts.end(context.session)
    sessions.begin(user, &response)
    return response
  }

  @Sendable func signOut(_ request: Request, _ context: SessionContext) async throws -> Response {
    _ = try await forms.read(Plain.self, request, context)
    try await accounts.end(context.session)
    return signedOut()
  }

  private func signedOut() -> Response {
    var response = pages.redirect(to: "/")
    sessions.begin(nil, &response)
    return response
  }

  @Sendable func removeAccount(
    _ request: Request, _ context: SessionContext
  ) async throws -> Response {
    _ = try await forms.read(Plain.self, request, context)
    let user = try context.user
    // After this no copy of a tab opens, in no backup either. The account goes last, so that its
    // user can try again whatever fails.
    try await settings.keys.destroyKey(of: user)
    try await tabs.removeAll(of: user)
    try await handovers.removeAll(of: user)
    try await accounts.remove(user)
    // A request that came in between may have stored a tab, and made a key, which opens nothing.
    try await tabs.removeAll(of: user)
    try await handovers.removeAll(of: user)
    try await settings.keys.destroyKey(of: user)
    return signedOut()
  }
}
