import Foundation
import TestSupport
import XCTest

/// What others must not do or see.
final class SecurityTests: XCTestCase {
  func testEachPostWithoutTheTokenOfItsSessionIsRefusedAndChangesNothing() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let other = Visitor(visitor.server)
    let theirs = try other.token(of: try other.signIn("Eve"))
    let before = try visitor.get(tab).text
    let names = try site.stored("")
    for token in [nil, "", "0", theirs, String(repeating: "0", count: 64)] as [String?] {
      for path in [
        "/sign-in", "/sign-out", "/tabs", "\(tab)/edit", "\(tab)/link", "\(tab)/close", "/continue",
        "/account/remove",
      ] {
        let fields = ["do": "begin", "name": "Ann", "passphrase": "", "link": ""]
        let answer = try visitor.post(path, fields, token: token)
        XCTAssertEqual(answer.status, 403, path)
        XCTAssertNil(answer["Set-Cookie"], path)
      }
      let change: [String: Any] = ["page": "a", "number": 1, "search": "forged"]
      XCTAssertEqual(try visitor.tell(change, in: tab, token: token ?? "").status, 403)
    }
    XCTAssertEqual(try visitor.get(tab).text, before)
    XCTAssertEqual(try site.stored(""), names)
  }

  func testALinkOfAnotherSiteChangesNothingInATab() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let queries = ["search=tea", "product=\(try visitor.firstProduct(in: tab))", "detail=details"]
    let before = try visitor.get(tab).text
    for origin in ["cross-site", "same-site", "another-word"] {
      let headers = ["Sec-Fetch-Site": origin]
      for query in queries {
        let answer = try visitor.get("\(tab)?\(query)", headers: headers)
        XCTAssertEqual(answer.status, 403, "\(origin) \(query)")
        XCTAssertTrue(answer.text.contains("Another site has led you here"), answer.text)
      }
      // To look is no change.
      XCTAssertEqual(try visitor.get(tab, headers: headers).text, before)
    }
    // A page of this site, a person at the address bar, and a browser that does not say.
    for headers in [["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], [:]] {
      let word = headers.values.first ?? "other"
      let answer = try visitor.get("\(tab)?search=\(word)", headers: headers)
      XCTAssertEqual(try visitor.path(of: answer), tab)
      XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="\#(word)""#))
    }
  }

  /// A browser may ask for what its user has only typed or pointed at.
  func testAPageThatABrowserAsksForBeforeItsUserDoesChangesNothing() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let product = try visitor.firstProduct(in: tab)
    let before = try visitor.get(tab).text
    for headers in [
      ["Sec-Purpose": "prefetch"], ["Sec-Purpose": "prefetch;prerender"],
      ["Purpose": "prefetch"], ["X-Moz": "prefetch"], ["X-Purpose": "preview"],
    ] {
      for query in ["search=tea", "product=\(product)", "detail=details"] {
        let answer = try visitor.get("\(tab)?\(query)", headers: headers)
        XCTAssertEqual(answer.status, 503, "\(headers) \(query)")
        XCTAssertTrue(answer.text.contains("Follow the link to see it."), answer.text)
      }
      // To look is no change.
      XCTAssertEqual(try visitor.get(tab, headers: headers).text, before)
    }
  }

  func testALinkHasTheAddressOfTheSiteAndNeverOneThatARequestNames() throws {
    let site = try Site()
    func link(_ server: Server, host: String) throws -> Answer {
      let visitor = Visitor(server)
      let tab = try visitor.signIn("Ann")
      let token = try visitor.token(of: tab)
      return try visitor.send(
        "POST", "\(tab)/link",
        headers: ["Host": host, "Content-Type": "application/x-www-form-urlencoded"],
        body: Data("token=\(token)".utf8))
    }
    let configured = try site.serve("--public-address", "https://catalog.example/")
    for host in ["evil.example", "localhost", "catalog.example:81"] {
      let page = try link(configured, host: host).text
      XCTAssertNotNil(
        page.firstMatch(of: /value="https:\/\/catalog\.example\/continue\/[0-9a-f]{32}"/), page)
    }
    // Without an address, only a browser on this machine gets a link.
    let server = try site.serve()
    for host in ["localhost:8080", "127.0.0.1:\(server.port)", "[::1]", "LOCALHOST"] {
      let answer = try link(server, host: host)
      XCTAssertTrue(answer.text.contains("http://\(host.lowercased())/continue/"), answer.text)
    }
    for host in [
      "evil.example", "localhost.evil.example", "localhost:80@evil.example", "127.0.0.1.evil",
      "localhost:", "localhost:8080/evil", "127.0.0.2",
    ] {
      let answer = try link(server, host: host)
      XCTAssertFalse(answer.text.contains("evil"), answer.text)
      XCTAssertFalse(answer.text.contains("/continue/"), answer.text)
      XCTAssertTrue(
        answer.status == 400
          || answer.text.contains(
            "This site does not know its address. Its operator starts it with"),
        answer.text)
    }
    // Nobody can use one that was not shown.
    XCTAssertEqual(try site.stored("web.handover").count, 7)
  }

  func testAPublicAddressIsAnOriginOrTheServerDoesNotStart() throws {
    let site = try Site()
    for address in [
      "/", "catalog.example", "ftp://catalog.example", "https://", "https://catalog.example/path",
      "https://catalog.example?q", "https://ann@catalog.example", "https://a b",
    ] {
      XCTAssertThrowsError(try site.serve("--public-address=\(address)"), address) {
        XCTAssertTrue(
          "\($0)".contains("A public address is one as in https://catalog.example."), "\($0)")
      }
    }
  }

  func testASessionThatSomebodyPlantedIsNotTheOneThatIsSignedIn() throws {
    let server = try Site().serve()
    let attacker = Visitor(server)
    _ = try attacker.get("/")
    let planted = try XCTUnwrap(attacker.cookies["session"])
    let victim = Visitor(server)
    victim.cookies["session"] = planted
    let tab = try victim.signIn("Ann")
    XCTAssertNotEqual(victim.cookies["session"], planted)
    XCTAssertTrue(try attacker.get("/").text.contains("Passphrase"))
    XCTAssertFalse(try attacker.get(tab).text.contains("Sign out"))
    // Nor does the sign-in of one browser sign in another one again.
    let signedIn = try XCTUnwrap(victim.cookies["session"])
    try victim.post("/sign-out")
    XCTAssertNotEqual(victim.cookies["session"], signedIn)
    XCTAssertTrue(try victim.get("/").text.contains("Passphrase"))
  }

  func testACookieThatWasChangedIsNobodys() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let cookie = try XCTUnwrap(visitor.cookies["session"])
    for place in 0..<cookie.count {
      var changed = Array(cookie.utf8)
      changed[place] = changed[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
      let other = Visitor(visitor.server)
      other.cookies["session"] = String(decoding: changed, as: UTF8.self)
      XCTAssertFalse(try other.get(tab).text.contains("Sign out"), "\(place)")
    }
    for strange in ["", ".", "....", String(repeating: "a.", count: 5000), cookie + ".", "%00"] {
      let other = Visitor(visitor.server)
      other.cookies["session"] = strange
      XCTAssertFalse(try other.get(tab).text.contains("Sign out"), strange)
    }
  }

  func testACookieIsForThisSiteAloneAndNotForScripts() throws {
    let site = try Site()
    let plain = try Visitor(try site.serve()).get("/")
    let secure = try Visitor(try site.serve("--secure-cookies")).get("/")
    func properties(_ answer: Answer) throws -> Set<String> {
      Set(try XCTUnwrap(answer["Set-Cookie"]).components(separatedBy: "; ").dropFirst())
    }
    let usual: Set = ["Path=/", "Max-Age=2592000", "HttpOnly", "SameSite=Lax"]
    XCTAssertEqual(try properties(plain), usual)
    XCTAssertEqual(try properties(secure), usual.union(["Secure"]))
    let cookie = try XCTUnwrap(secure["Set-Cookie"])
    XCTAssertTrue(cookie.hasPrefix("__Host-session="), cookie)
  }

  func testAnotherUsersTabAnswersLikeOneThatIsNotThere() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let other = Visitor(visitor.server)
    let own = try other.signIn("Eve")
    let token = try other.token(of: own)
    let unknown = "/tabs/" + String(repeating: "0", count: 32)
    let before = try visitor.get(tab).text
    for path in ["", "?search=x", "?product=\(UUID())", "/events"] {
      let (theirs, none) = (try other.get(tab + path), try other.get(unknown + path))
      XCTAssertEqual(theirs.status, 404, path)
      XCTAssertEqual(theirs.text, none.text)
      XCTAssertEqual(theirs.headers.map(\.name), none.headers.map(\.name))
    }
    for path in ["/edit", "/link", "/close"] {
      let theirs = try other.post(tab + path, ["do": "begin"], token: token)
      let none = try other.post(unknown + path, ["do": "begin"], token: token)
      XCTAssertEqual(theirs.status, 404, path)
      XCTAssertEqual(theirs.text, none.text)
    }
    let change: [String: Any] = ["page": "a", "number": 1, "search": "x"]
    let theirs = try other.tell(change, in: tab, token: token)
    XCTAssertEqual(theirs.status, 404)
    XCTAssertEqual(theirs.text, try other.tell(change, in: unknown, token: token).text)
    XCTAssertEqual(try visitor.get(tab).text, before)
  }

  func testGuessedNamesOfTabsAndLinksAreNotFound() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let id = String(tab.dropFirst("/tabs/".count))
    for guess in [
      "x", "..", "%2e%2e", String(id.dropLast()), id + "0", id.uppercased(), "0" + id.dropFirst(),
      "%00", "’", String(repeating: "0", count: 32), String(repeating: "f", count: 10_000),
    ] where guess != id {
      let path = guess.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      XCTAssertEqual(try visitor.get("/tabs/\(path)").status, 404, guess)
      XCTAssertTrue([404, 410].contains(try visitor.get("/continue/\(path)").status), guess)
    }
    for _ in 0..<50 {
      let guess = UUID().uuidString.lowercased().filter { $0 != "-" }
      XCTAssertEqual(try visitor.get("/tabs/\(guess)").status, 404)
      XCTAssertEqual(try visitor.get("/continue/\(guess)").status, 410)
    }
  }

  func testAWrongPassphraseSignsNobodyIn() throws {
    let server = try Site().serve()
    let visitor = Visitor(server)
    _ = try visitor.signIn("Ann", "correct horse")
    for wrong in ["", "correct", "correct horse ", "Correct horse"] {
      let other = Visitor(server)
      let answer = try other.post("/sign-in", ["name": "Ann", "passphrase": wrong])
      XCTAssertEqual(answer.status, 401)
      XCTAssertTrue(answer.text.contains("This is not the passphrase of that name."))
      XCTAssertTrue(try other.get("/").text.contains("Passphrase"))
    }
    XCTAssertEqual(
      try Visitor(server).post("/sign-in", ["name": "Ann", "passphrase": "correct horse"]).status,
      303)
  }

  func testNamesAndWordsAreTextAndNeverHTML() throws {
    let visitor = Visitor(try Site().serve())
    let evil = #"<script>alert('"&')</script>"#
    let tab = try visitor.signIn(evil)
    let product = try visitor.firstProduct(in: tab)
    _ = try visitor.get("\(tab)?product=\(product)")
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    let words = ["title": evil, "description": "</textarea>" + evil]
    try visitor.post("\(tab)/edit", words.merging(["do": "save"]) { $1 }, tokenOf: tab)
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    try visitor.tell(["page": "a", "number": 1, "search": "<script"], in: tab)
    var pages = [try visitor.get(tab), try visitor.get("/")]
    for detail in ["details", "related"] {
      _ = try visitor.get("\(tab)?detail=\(detail)")
      pages.append(try visitor.get(tab))
    }
    // What somebody else has saved meanwhile, and a sign-in that is refused.
    let eve = Visitor(visitor.server)
    let other = try eve.signIn("Eve")
    try eve.edit(product, in: other)
    let theirs = ["do": "save", "title": "</p>" + evil, "description": "x"]
    XCTAssertEqual(try eve.post("\(other)/edit", theirs, tokenOf: other).status, 303)
    pages.append(try visitor.get(tab))
    XCTAssertTrue(pages[4].text.contains("&lt;/p&gt;&lt;script&gt;"), pages[4].text)
    let refused = ["name": evil + "\n" + evil, "passphrase": "", "next": evil]
    pages.append(try eve.post("/sign-in", refused))
    pages.append(try visitor.post("\(tab)/link", tokenOf: tab))
    for page in pages {
      XCTAssertTrue([200, 422].contains(page.status), page.text)
      XCTAssertFalse(page.text.contains("<script>alert"), page.text)
      XCTAssertFalse(page.text.contains("</textarea><s"), page.text)
    }
    XCTAssertTrue(pages[0].text.contains("&lt;script&gt;alert(&#39;&quot;&amp;&#39;)"))
  }

  func testEachAnswerTellsBrowsersToRefuseScriptsOfOthers() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    for path in ["/", tab, "/nothing", "/catalog.js", "/operators", tab + "/x"] {
      let answer = try visitor.get(path)
      let policy = try XCTUnwrap(answer["Content-Security-Policy"], path)
      XCTAssertTrue(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
      XCTAssertFalse(policy.contains("unsafe"))
      XCTAssertEqual(answer["X-Content-Type-Options"], "nosniff")
      XCTAssertEqual(answer["Referrer-Policy"], "no-referrer")
      XCTAssertFalse(answer.text.contains("<script>"), path)
      XCTAssertFalse(answer.text.contains("style="), path)
    }
  }

  func testNothingThatIsStoredCanBeRead() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann Teak", "correct horse")
    _ = try visitor.get("\(tab)?product=\(try visitor.firstProduct(in: tab))")
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    try visitor.tell(
      ["page": "a", "number": 1, "search": "blue teapots", "title": "unsaved words"], in: tab)
    try visitor.post("\(tab)/link", tokenOf: tab)
    let folder = site.directory.appending(path: "data/states")
    var count = 0
    var decodedCount = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      var bytes = try Data(contentsOf: folder.appending(path: name))
      count += bytes.count
      // What is Data in an object of JSON.
      let texts = String(decoding: bytes, as: UTF8.self)
        .matches(of: /"([A-Za-z0-9+\/\\]{40,}={0,2})"/)
      for text in texts {
        let base64 = text.1.filter { $0 != "\\" }
        bytes += try XCTUnwrap(Data(base64Encoded: String(base64)), String(text.1))
        decodedCount += 1
      }
      for word in ["Ann Teak", "blue teapots", "unsaved words", "correct horse"] {
        XCTAssertNil(bytes.range(of: Data(word.utf8)), "\(word) is in \(name)")
      }
    }
    XCTAssertGreaterThan(count, 1000)
    // The lock of the account, and what the link hands over.
    XCTAssertEqual(decodedCount, 2)
  }
}
