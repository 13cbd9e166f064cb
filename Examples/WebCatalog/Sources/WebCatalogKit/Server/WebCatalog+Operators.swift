import Crypto
import Foundation
import Hummingbird

extension WebCatalog {
  private static let pageLength = 100

  /// What operators see: how old and how large sessions are and how their last save went, and
  /// nothing of what is in them.
  @Sendable func showOperators(
    _ request: Request, _ context: SessionContext
  ) async throws -> Response {
    guard let token = settings.operatorsToken else { throw WebProblem.notFound }
    guard isOperator(request.headers[.authorization] ?? "", token) else {
      var response = try pages.page(
        "problem",
        ["title": "Operators", "sentence": "This page needs the token of the operators."],
        status: .unauthorized)
      response.headers[.wwwAuthenticate] = "Basic realm=\"operators\""
      return response
    }
    let names = try await tabs.stateNames()
    let after = request.uri.queryParameters["after"].map(String.init) ?? ""
    let sessions = names.map { (mark: Self.mark($0), name: $0) }.filter { $0.mark > after }
      .sorted { $0.mark < $1.mark }
    let shown = sessions.prefix(Self.pageLength)
    let open = await tabs.openNames
    var rows: [[String: String]] = []
    for session in shown {
      rows.append(
        row(
          session.mark, try await tabs.records.facts(of: session.name),
          isOpen: open.contains(session.name)))
    }
    return try pages.page(
      "operators",
      [
        "title": "Sessions", "openCount": "\(open.count)", "storedCount": "\(names.count)",
        "sessions": rows,
        "next": sessions.count > shown.count ? [shown.last?.mark].compactMap(\.self) : [],
      ])
  }

  private func row(_ mark: String, _ facts: SessionFacts?, isOpen: Bool) -> [String: String] {
    let now = Date()
    func before(_ date: Date?) -> String {
      date.map { Self.span(max(0, now.timeIntervalSince($0))) } ?? ""
    }
    return [
      "name": mark, "isOpen": isOpen ? "yes" : "", "bytes": facts.map { "\($0.byteCount)" } ?? "",
      "age": before(facts?.begun), "saved": before(facts?.saved),
      "reported": before(facts?.reported), "outcome": facts?.outcome ?? "unknown",
    ]
  }

  /// Whether the token is the password of a browser, or that of a script.
  private func isOperator(_ authorization: String, _ token: String) -> Bool {
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return false }
    var given = parts[1].drop { $0 == " " }
    switch parts[0].lowercased() {
    case "bearer": break
    case "basic":
      // The name before the colon does not matter, and may be empty.
      let text =
        Data(base64Encoded: String(given)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      given = text.drop { $0 != ":" }.dropFirst()
    default: return false
    }
    // Compared as hashes, so that the time says nothing of how much is right.
    return SHA256.hash(data: Data(given.utf8)) == SHA256.hash(data: Data(token.utf8))
  }

  /// Tells sessions apart, and says nothing of their names.
  private static func mark(_ name: String) -> String {
    String(Hex.text(SHA256.hash(data: Data(name.utf8))).prefix(12))
  }

  private static func span(_ seconds: TimeInterval) -> String {
    switch seconds {
    case ..<120: "\(Int(seconds)) s"
    case ..<7200: "\(Int(seconds / 60)) min"
    case ..<172_800: "\(Int(seconds / 3600)) h"
    default: "\(Int(seconds / 86_400)) days"
    }
  }
}
