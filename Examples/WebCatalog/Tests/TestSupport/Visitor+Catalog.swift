import Foundation
import XCTest

extension Visitor {
  /// The identifier of the first product in the list of a tab.
  package func firstProduct(in tab: String) throws -> String {
    try XCTUnwrap(try products(in: tab).first)
  }

  /// Opens the editor of a product.
  package func edit(_ product: String, in tab: String) throws {
    _ = try get("\(tab)?product=\(product)")
    let answer = try post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    XCTAssertEqual(answer.status, 303, answer.text)
  }

  /// The identifiers of the products in the list of a tab.
  package func products(in tab: String) throws -> [String] {
    try get(tab).text.matches(of: /\?product=([0-9A-F-]{36})"/).map { String($0.1) }
  }

  /// Gives the first product another title.
  ///
  /// - Returns: Its identifier.
  @discardableResult
  package func save(_ title: String, in tab: String) throws -> String {
    let product = try firstProduct(in: tab)
    try edit(product, in: tab)
    let answer = try post(
      "\(tab)/edit", ["do": "save", "title": title, "description": "x"], tokenOf: tab)
    XCTAssertEqual(answer.status, 303, answer.text)
    return product
  }

  /// Answers the question of an editor which words count, as a page that shows them now.
  @discardableResult
  package func choose(
    _ choice: String, in tab: String, _ words: [String: String] = [:]
  ) throws -> Answer {
    let page = try get(tab).text
    let seen = try XCTUnwrap(page.firstMatch(of: /name="seen" value="([0-9a-f]{64})"/), page).1
    let fields = ["do": choice, "seen": String(seen)]
    return try post("\(tab)/edit", fields.merging(words) { $1 }, tokenOf: tab)
  }

  /// The token of a new link that hands a tab over.
  package func link(of tab: String) throws -> String {
    let page = try post("\(tab)/link", tokenOf: tab).text
    return String(try XCTUnwrap(page.firstMatch(of: /\/continue\/([0-9a-f]{32})"/), page).1)
  }

  package func operatorsPage(_ query: String = "") throws -> String {
    try get("/operators" + query, headers: ["Authorization": "Bearer \(Site.operatorsToken)"]).text
  }

  /// What the server tells a page that shows a tab.
  package func events(of tab: String) throws -> Events {
    let connection = try Connection(port: server.port)
    let cookie = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    connection.write(
      Data("GET \(tab)/events HTTP/1.1\r\nHost: localhost\r\nCookie: \(cookie)\r\n\r\n".utf8))
    return Events(connection)
  }
}

/// Events one after the other.
package final class Events {
  package let connection: Connection
  private var received = ""

  fileprivate init(_ connection: Connection) { self.connection = connection }

  /// The next event with its data.
  package func next(within seconds: Int = 10) throws -> String {
    while true {
      if let start = received.range(of: "event: "),
        let end = received.range(of: "\n\n", range: start.lowerBound..<received.endIndex)
      {
        defer { received = String(received[end.upperBound...]) }
        return String(received[start.lowerBound..<end.lowerBound])
      }
      guard let more = try connection.read(within: seconds) else {
        throw HTTP.Problem(description: "The events have ended. \(received)")
      }
      received += String(decoding: more, as: UTF8.self)
    }
  }
}
