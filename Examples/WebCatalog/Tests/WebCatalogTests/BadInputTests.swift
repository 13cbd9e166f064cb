import Foundation
import TestSupport
import XCTest

/// Each mistake and each attack gets an answer with a sentence, and the server goes on.
final class BadInputTests: XCTestCase {
  func testAChangeThatNoPageSendsIsRefusedAndChangesNothing() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let before = try visitor.get(tab).text
    let page: [String: Any] = ["page": "a", "number": 1]
    let changes: [[String: Any]] = [
      page.merging(["revision": -1]) { $1 }, page.merging(["revision": "last"]) { $1 },
      page.merging(["revision": NSNull()]) { $1 }, page.merging(["seen": ["search": -1]]) { $1 },
      page.merging(["seen": ["product": 1]]) { $1 }, page.merging(["seen": 1]) { $1 },
      [:], ["page": "a"], ["number": 1], ["page": 1, "number": 1], ["page": "a", "number": -1],
      ["page": "", "number": 1], ["page": "a", "number": 1e30],
      ["page": String(repeating: "p", count: 65), "number": 1],
      page.merging(["search": 7]) { $1 },
      page.merging(["search": String(repeating: "x", count: 201)]) { $1 },
      page.merging(["search": "a\u{0}b"]) { $1 }, page.merging(["title": "\u{7F}"]) { $1 },
      page.merging(["description": String(repeating: "é", count: 20_001)]) { $1 },
      page.merging(["listScroll": -1]) { $1 }, page.merging(["listWidth": 1e300]) { $1 },
      page.merging(["listScroll": "top"]) { $1 },
      page.merging(["focus": ["field": "password", "start": 0, "end": 0]]) { $1 },
      page.merging(["focus": ["field": "title", "start": 5, "end": 2]]) { $1 },
      page.merging(["focus": ["field": "title", "start": -1, "end": 2]]) { $1 },
      page.merging(["focus": "title"]) { $1 },
    ]
    for change in changes {
      let answer = try visitor.tell(change, in: tab, token: token)
      XCTAssertEqual(answer.status, 422, "\(change)")
      XCTAssertEqual(
        answer.text, #"{"problem":"The browser sent something that this page does not."}"#)
    }
    for text in ["", "{", "[]", "null", "\u{FEFF}", String(repeating: "[", count: 50_000)] {
      let answer = try visitor.send(
        "POST", tab + "/changes",
        headers: ["Content-Type": "application/json", "X-Form-Token": token], body: Data(text.utf8))
      XCTAssertEqual(answer.status, 422, text)
    }
    XCTAssertEqual(try visitor.get(tab).text, before)
  }

  func testTheLongestWordsAreTaken() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    _ = try visitor.get("\(tab)?product=\(try visitor.firstProduct(in: tab))")
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    let text = String(repeating: "茶", count: 20_000)
    let change: [String: Any] = [
      "page": "a", "number": 1, "search": String(repeating: "é", count: 200), "description": text,
    ]
    XCTAssertEqual(try visitor.tell(change, in: tab).status, 200)
    XCTAssertTrue(try visitor.get(tab).text.contains(text))
    let words = ["do": "save", "title": "茶", "description": text]
    XCTAssertEqual(try visitor.post("\(tab)/edit", words, tokenOf: tab).status, 303)
  }

  func testABodyThatIsTooLargeIsRefused() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let huge = String(repeating: "x", count: 3 << 20)
    let change = try visitor.tell(
      ["page": "a", "number": 1, "description": huge], in: tab, token: token)
    XCTAssertEqual(change.status, 413)
    XCTAssertEqual(
      change.text, #"{"problem":"That is more than this server takes."}"#)
    XCTAssertEqual(try visitor.post("/sign-in", ["name": huge], token: token).status, 413)
    XCTAssertEqual(try visitor.get(tab).status, 200)
  }

  func testStrangeFormsAreRefused() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    for name in ["", " ", "a\nb", "a\u{0}", String(repeating: "x", count: 41)] {
      let answer = try visitor.post("/sign-in", ["name": name, "passphrase": ""], token: token)
      XCTAssertEqual(answer.status, 422, name)
    }
    for what in ["", "burn", "save "] {
      XCTAssertEqual(try visitor.post("\(tab)/edit", ["do": what], token: token).status, 422)
    }
    XCTAssertEqual(try visitor.get("\(tab)?search=%00").status, 422)
    XCTAssertEqual(try visitor.get("\(tab)?product=7&detail=x").status, 303)
    for body in ["%", "a=b&", "token[]=1", "=", "&&&", "token=\(token)&do=%ff%fe"] {
      let answer = try visitor.send(
        "POST", "\(tab)/edit", headers: ["Content-Type": "application/x-www-form-urlencoded"],
        body: Data(body.utf8))
      XCTAssertTrue([403, 422].contains(answer.status), "\(body): \(answer.status)")
    }
    XCTAssertEqual(try visitor.get(tab).status, 200)
  }

  func testWhatIsNoHTTPEndsNothing() throws {
    let site = try Site()
    let server = try site.serve()
    for text in [
      "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
      "POST /tabs HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
      "POST /tabs HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /tabs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
      "GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nCookie: \(String(repeating: "a=b; ", count: 40_000))\r\n\r\n",
      "GET /tabs/%zz HTTP/1.1\r\nConnection: close\r\n\r\n",
    ] {
      // It may close the connection without an answer.
      let answer = try? HTTP.send(Data(text.utf8), port: server.port)
      XCTAssertTrue(
        (400..<500).contains(answer?.status ?? 400), "\(answer?.status ?? 0): \(text.prefix(60))")
    }
    XCTAssertEqual(try Visitor(server).get("/health").text, #"{"state":"up"}"#)
  }

  func testAnotherMasterKeyDoesNotStartTheServer() throws {
    let site = try Site()
    _ = try site.serve().stop()
    try FileManager.default.removeItem(at: site.directory.appending(path: "key"))
    XCTAssertThrowsError(try site.serve()) {
      XCTAssertTrue(
        "\($0)".contains("is sealed under another master key"), "\($0)")
    }
  }

  func testADamagedTabIsAnErrorAndStays() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    _ = try visitor.server.stop()
    let file = try XCTUnwrap(site.files().first { $0.key.hasPrefix("tab-") }).value
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: file)
    visitor.server = try site.serve()
    let answer = try visitor.get(tab)
    XCTAssertEqual(answer.status, 503)
    XCTAssertTrue(answer.text.contains("This tab cannot be read."), answer.text)
    XCTAssertEqual(try Data(contentsOf: file), bytes)
  }

  func testAStoreThatCannotBeWrittenIsToldAndTheChangeIsStoredLater() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    // What is new is written there first.
    let new = try XCTUnwrap(site.files().first { $0.key.hasPrefix("tab-") }).value
      .appendingPathExtension("new")
    try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
    let change: [String: Any] = ["page": "a", "number": 1, "search": "later"]
    let answer = try visitor.tell(change, in: tab, token: token)
    XCTAssertEqual(answer.status, 503)
    XCTAssertEqual(answer.text, #"{"problem":"Not stored. Try again in a moment."}"#)
    // Where it should have been is for operators alone.
    XCTAssertTrue(visitor.server.words.contains(new.path), visitor.server.words)
    try FileManager.default.removeItem(at: new)
    XCTAssertEqual(try visitor.tell(change, in: tab, token: token).status, 200)
    try visitor.server.kill()
    visitor.server = try site.serve()
    XCTAssertTrue(try visitor.get(tab).text.contains(#"value="later""#))
  }

  func testAStoreThatIsAwayIsToldAndTheChangeIsStoredLater() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let (data, away) = (site.file("data"), site.file("away"))
    try FileManager.default.moveItem(atPath: data, toPath: away)
    let change: [String: Any] = ["page": "a", "number": 1, "search": "later"]
    let answer = try visitor.tell(change, in: tab, token: token)
    XCTAssertEqual(answer.status, 503)
    XCTAssertEqual(
      answer.text, #"{"problem":"What is stored cannot be reached. Try again in a moment."}"#)
    XCTAssertTrue(visitor.server.words.contains(data), visitor.server.words)
    try FileManager.default.moveItem(atPath: away, toPath: data)
    XCTAssertEqual(try visitor.tell(change, in: tab, token: token).status, 200)
  }
}
