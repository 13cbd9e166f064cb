import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// What is known of a request: its browser's session.
struct SessionContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// A new one, of nobody, where the browser has none that is signed by a server of ours and
  /// signed out at none.
  var session = Session(of: nil, now: Date())

  init(source: Source) {
    coreContext = .init(source: source)
  }

  /// The user; throws `signedOut` if nobody has signed in.
  var user: User {
    get throws {
      guard let user = session.user else { throw WebProblem.signedOut }
      return user
    }
  }

  /// A part of the path that is a random name.
  ///
  /// - Throws: `notFound` for anything else.
  func randomName(_ part: String) throws -> RandomName {
    guard let name = RandomName(parameters.get(part)) else { throw WebProblem.notFound }
    return name
  }
}

/// Finds the session of a request, and gives a browser without one a new one.
struct SessionMiddleware: RouterMiddleware {
  let signatures: Signatures
  let accounts: Accounts
  let isSecure: Bool
  let now: @Sendable () -> Date

  func handle(
    _ request: Request, context: SessionContext,
    next: @concurrent (Request, SessionContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    let (cookie, now) = (request.cookies[cookieName]?.value, now())
    var session = cookie.flatMap { Session($0, signatures, now: now) }
    if let found = session, found.user != nil, try await !accounts.has(found) { session = nil }
    context.session = session ?? Session(of: nil, now: now)
    var response = try await next(request, context)
    let begun = session == nil ? context.session : session?.renewed(now: now)
    if let begun, response.headers[.setCookie] == nil { set(begun, &response) }
    return response
  }

  /// A browser sends a cookie of this prefix only where this host has set it over TLS.
  private var cookieName: String { (isSecure ? "__Host-" : "") + Session.cookie }

  /// Begins another session, of a user or of nobody.
  func begin(_ user: User?, _ response: inout Response) {
    set(Session(of: user, now: now()), &response)
  }

  private func set(_ session: Session, _ response: inout Response) {
    response.setCookie(
      Cookie(
        name: cookieName, value: session.cookie(signatures), maxAge: Int(Session.lifetime),
        path: "/", secure: isSecure, httpOnly: true, sameSite: .lax))
  }
}

/// Sends what browsers are to refuse, and a page or an object for each problem.
struct AnswerMiddleware: RouterMiddleware {
  let pages: Pages

  func handle(
    _ request: Request, context: SessionContext,
    next: @concurrent (Request, SessionContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await next(request, context)
    } catch {
      response = try answer(problem(error, context), request)
    }
    for (header, value) in Self.headers {
      if let name = HTTPField.Name(header) { response.headers[name] = value }
    }
    return response
  }

  private func problem(_ error: any Error, _ context: SessionContext) -> WebProblem {
    if let problem = error as? WebProblem {
      if let detail = problem.detail { context.logger.error("\(problem.sentence) \(detail)") }
      return problem
    }
    if let error = error as? any HTTPResponseError {
      switch error.status {
      case .notFound, .methodNotAllowed: return .notFound
      case .contentTooLarge: return .tooLarge
      case .badRequest, .unprocessableContent, .unsupportedMediaType: return .invalid
      default: break
      }
    }
    context.logger.error("\(type(of: error))")
    return WebProblem(
      status: .internalServerError, sentence: "The server made a mistake. What was stored is safe.")
  }

  private func answer(_ problem: WebProblem, _ request: Request) throws -> Response {
    if request.headers[.contentType] == "application/json" {
      return pages.json(["problem": problem.sentence], status: problem.status)
    }
    return try pages.page(
      "problem",
      ["title": problem.status.reasonPhrase, "sentence": problem.sentence], status: problem.status)
  }

  private static let headers = [
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    // Addresses have the names of tabs and links in them.
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
  ]
}
