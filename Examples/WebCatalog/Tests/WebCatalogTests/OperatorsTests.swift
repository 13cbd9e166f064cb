import Foundation
import TestSupport
import XCTest

/// What operators see, and nobody else.
final class OperatorsTests: XCTestCase {
  func testOperatorsSeeSessionsAndNothingOfTheirContent() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann Teak")
    _ = try visitor.get("\(tab)?product=\(try visitor.firstProduct(in: tab))")
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    try visitor.tell(
      ["page": "a", "number": 1, "search": "blue teapots", "title": "unsaved words"], in: tab)
    let title = try XCTUnwrap(visitor.get(tab).text.firstMatch(of: /<h1>(.*)<\/h1>/)).1
    var page = ""
    try TestSupport.wait(for: "the report. \(page)") {
      page = try visitor.operatorsPage()
      return page.contains("Saved ")
    }
    XCTAssertTrue(page.contains("1 open at this server, 1 stored"), page)
    XCTAssertNotNil(page.firstMatch(of: /<td>[1-9][0-9]*<\/td><td>[0-9]+ s<\/td>/), page)
    let id = String(tab.dropFirst("/tabs/".count))
    for word in ["Ann", "Teak", "blue", "teapots", "unsaved", "words", String(title), id] {
      XCTAssertFalse(page.contains(word), word)
    }
  }

  func testEachServerShowsAllSessionsWhicheverHasThemOpenAndAlsoWhenNoneHas() throws {
    let site = try Site(usesDatabase: true)
    let visitors = [Visitor(try site.serve()), Visitor(try site.serve())]
    let tabs = try zip(visitors, ["Ann", "Eve"]).map { try $0.signIn($1) }
    var shown: [Shown] = []
    try TestSupport.wait(for: "both reports. \(shown)") {
      shown = try Shown.sessions(visitors[0])
      return shown.count == 2 && shown.allSatisfy { $0.report.hasPrefix("Saved ") }
    }
    let before = shown.map(\.byteCount)
    for (visitor, tab) in zip(visitors, tabs) {
      let words = String(repeating: "tea ", count: 50)
      try visitor.tell(["page": "a", "number": 1, "search": words], in: tab)
    }
    try TestSupport.wait(for: "the next ones at both servers. \(before) \(shown)") {
      shown = try Shown.sessions(visitors[0])
      let isLast = zip(before, shown).allSatisfy { $0 + 100 < $1.byteCount }
      return try isLast && Shown.sessions(visitors[1]) == shown
    }
    try visitors[0].server.kill()
    XCTAssertEqual(try Shown.sessions(visitors[1]), shown)
    XCTAssertEqual(try visitors[1].server.stop(), .exit(0))
    let later = Visitor(try site.serve())
    XCTAssertEqual(try Shown.sessions(later), shown)
    XCTAssertTrue(try later.operatorsPage().contains("0 open at this server, 2 stored"))
  }

  func testWhatAServerHasStoredLastIsKnownWhenItWasStopped() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let words = String(repeating: "tea ", count: 50)
    try visitor.tell(["page": "a", "number": 1, "search": words], in: tab)
    XCTAssertEqual(try visitor.server.stop(), .exit(0))
    visitor.server = try site.serve()
    let session = try XCTUnwrap(Shown.sessions(visitor).first)
    XCTAssertTrue(session.report.hasPrefix("Saved "), session.report)
    XCTAssertGreaterThan(session.byteCount, 100)
  }

  func testManySessionsAreShownAPageAtATime() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    _ = try visitor.signIn("Ann")
    let token = try visitor.token()
    for _ in 0..<101 { try visitor.post("/tabs", [:], token: token) }
    let page = try visitor.operatorsPage()
    let first = Shown.sessions(on: page)
    XCTAssertEqual(first.count, 100)
    let next = try XCTUnwrap(page.firstMatch(of: /"\/operators(\?after=[0-9a-f]+)"/)).1
    let last = try visitor.operatorsPage(String(next))
    XCTAssertFalse(last.contains("?after="), last)
    let marks = (first + Shown.sessions(on: last)).map(\.mark)
    XCTAssertEqual(marks.count, 102)
    XCTAssertEqual(Set(marks).count, 102)
  }

  func testAServerWhoseTokenIsMissingOrShortDoesNotStartAndSaysSo() throws {
    let site = try Site()
    let (none, short) = (site.file("none"), site.file("short"))
    try Data("short".utf8).write(to: URL(filePath: short))
    for (file, sentence) in [
      (none, "The token in \(none) cannot be read. Is there a file of UTF-8 text?"),
      (short, "The token in \(short) has less than 16 characters. Make a longer one."),
    ] {
      XCTAssertThrowsError(try site.serve("--operators-token", file)) {
        XCTAssertEqual("\($0)", "Error: \(sentence)\n")
      }
    }
  }

  func testTheOperatorsPageNeedsItsToken() throws {
    let visitor = Visitor(try Site().serve())
    _ = try visitor.signIn("Ann")
    XCTAssertEqual(try visitor.get("/operators").status, 401)
    XCTAssertEqual(try visitor.get("/operators")["WWW-Authenticate"], #"Basic realm="operators""#)
    for wrong in [
      "", "Bearer", "Bearer ", "Bearer x", "Bearer \(Site.operatorsToken)x", "Basic",
      "Basic \(Site.operatorsToken)", "Basic %%%", Site.operatorsToken,
      "Digest \(Site.operatorsToken)",
      "Basic \(Data(Site.operatorsToken.utf8).base64EncodedString())",
    ] {
      let answer = try visitor.get("/operators", headers: ["Authorization": wrong])
      XCTAssertEqual(answer.status, 401, wrong)
      XCTAssertFalse(answer.text.contains("stored in all"))
    }
    func basic(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    let token = Site.operatorsToken
    for right in [
      "Bearer \(token)", "bearer \(token)", "BEARER  \(token)",
      "Basic \(basic("anybody:\(token)"))",
      "basic \(basic(":\(token)"))", "bAsIc  \(basic("anybody:\(token)"))",
    ] {
      XCTAssertEqual(
        try visitor.get("/operators", headers: ["Authorization": right]).status, 200, right)
    }
  }

  func testATokenMayHaveColonsInIt() throws {
    let site = try Site()
    let token = ":a token: with colons:"
    try Data(token.utf8).write(to: site.directory.appending(path: "token"))
    let password = Data("anybody:\(token)".utf8).base64EncodedString()
    let answer = try Visitor(site.serve())
      .get("/operators", headers: ["Authorization": "Basic \(password)"])
    XCTAssertEqual(answer.status, 200)
  }
}

/// What the page shows of a session and what does not change with time.
private struct Shown: Equatable {
  let mark: String
  let byteCount: Int
  let report: String

  static func sessions(_ visitor: Visitor) throws -> [Shown] {
    sessions(on: try visitor.operatorsPage())
  }

  static func sessions(on page: String) -> [Shown] {
    page.matches(of: /<tr><td><code>(\w+)<\/code><\/td><td>(\d+)<.*<td>([^<]*)<\/td><\/tr>/)
      .map { Shown(mark: String($0.1), byteCount: Int($0.2) ?? 0, report: String($0.3)) }
  }
}
