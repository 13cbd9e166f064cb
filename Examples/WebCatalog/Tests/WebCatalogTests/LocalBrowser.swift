import Foundation
import HTTPTypes
import XCTest

/// A browser of servers in the process of the test, which shows one tab.
struct LocalBrowser: Sendable {
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  var server: LocalServer
  private(set) var tab = ""
  private(set) var page = ""
  private(set) var status = 0
  private var cookie: String?
  private var number = 0

  init(_ server: LocalServer) {
    self.server = server
  }

  /// Another tab of the same user, or the same one in another browser.
  init(_ server: LocalServer, beside other: LocalBrowser) {
    self.init(server)
    (cookie, tab) = (other.cookie, other.tab)
  }

  /// Signs in, and shows a new tab.
  mutating func signIn(_ name: String) async throws {
    try await load("/")
    try await post("/sign-in", ["name": name, "passphrase": ""])
  }

  mutating func makeTab() async throws {
    try await load("/")
    try await post("/tabs")
  }

  /// Shows a product, and no other in the list.
  mutating func showAlone(_ product: String) async throws {
    try await load("\(tab)?product=\(product)")
    try await load("\(tab)?search=\(try XCTUnwrap(package))")
  }

  /// Shows a page, or the tab again.
  mutating func load(_ path: String? = nil) async throws {
    page = try await send(.get, path ?? tab)
  }

  /// Sends a form of the page, and shows where that leads.
  mutating func post(_ path: String, _ fields: [String: String] = [:]) async throws {
    var fields = fields
    fields["token"] = try token
    fields["product"] = product
    let body = fields.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    page = try await send(
      .post, path, [.contentType: "application/x-www-form-urlencoded"],
      body.joined(separator: "&"))
  }

  /// Presses a button of the editor, with what the fields have now.
  mutating func press(_ button: String, _ words: Words? = nil) async throws {
    var fields = ["do": button]
    fields["title"] = words?.title
    fields["description"] = words?.description
    fields["seen"] = seen
    try await post("\(tab)/edit", fields)
  }

  /// Tells what was typed, as a page with scripts does.
  mutating func tell(_ words: Words) async throws {
    number += 1
    let change: [String: Any] = [
      "page": "page", "number": number, "revision": revision,
      "product": product ?? "", "title": words.title, "description": words.description,
    ]
    let body = String(decoding: try JSONSerialization.data(withJSONObject: change), as: UTF8.self)
    let name = try XCTUnwrap(HTTPField.Name("X-Form-Token"))
    _ = try await send(
      .post, "\(tab)/changes", [.contentType: "application/json", name: token], body)
  }

  private mutating func send(
    _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields = [:], _ body: String = ""
  ) async throws -> String {
    var headers = headers
    headers[.cookie] = cookie
    let (head, text) = try await server.answer(method, path, headers, body)
    if let set = head.headerFields[.setCookie] { cookie = String(set.prefix { $0 != ";" }) }
    status = Int(head.status.code)
    guard status == 303, let place = head.headerFields[.location] else { return text }
    if place.hasPrefix("/tabs/") { tab = place }
    return try await send(.get, place)
  }

  // MARK: What it shows

  private func text(after start: String, before end: String) -> String? {
    guard let start = page.range(of: start)?.upperBound,
      let end = page.range(of: end, range: start..<page.endIndex)?.lowerBound
    else { return nil }
    return String(page[start..<end])
  }

  private var token: String {
    get throws {
      guard let token = text(after: #"name="token" value=""#, before: "\"") else {
        throw Problem(description: "The page has no form: \(status) \(page)")
      }
      return token
    }
  }

  private var revision: Int {
    text(after: #"data-revision=""#, before: "\"").flatMap { Int($0) } ?? 0
  }

  /// The product that the list shows first.
  var firstProduct: String? { text(after: "?product=", before: "\"") }

  /// The package of the product that is shown.
  var package: String? { text(after: #"<p class="package">"#, before: "<") }

  private var product: String? { text(after: #"name="product" value=""#, before: "\"") }

  /// The words in the editor; nil without one.
  var edited: Words? {
    guard let title = text(after: #"name="title" value=""#, before: "\""),
      let area = text(after: "<textarea", before: "</textarea>"),
      let start = area.range(of: ">\n")?.upperBound
    else { return nil }
    return Words(title: title, description: String(area[start...]))
  }

  /// The words that it says somebody has saved meanwhile; nil if it does not ask.
  var asked: Words? {
    guard page.contains("Changed meanwhile"),
      let title = text(after: #"<p class="words"><b>"#, before: "</b>\n"),
      let description = text(after: "<b>\(title)</b>\n", before: "</p>")
    else { return nil }
    return Words(title: title, description: description)
  }

  private var seen: String? { text(after: #"name="seen" value=""#, before: "\"") }
}

/// The words of a product.
struct Words: Hashable, Decodable {
  var title: String
  var description: String

  /// Both texts with another word at their ends.
  func adding(_ word: String) -> Words {
    Words(title: "\(title) \(word)", description: "\(description) \(word)")
  }

  /// The words that are in both texts.
  var all: Set<String> {
    Set(title.split(whereSeparator: \.isWhitespace).map(String.init))
      .intersection(description.split(whereSeparator: \.isWhitespace).map(String.init))
  }
}
