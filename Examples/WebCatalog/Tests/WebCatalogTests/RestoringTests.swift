import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import Synchronization
import TestSupport
import WebCatalogKit
import XCTest

/// What a tab shows is there again, from another process.
final class RestoringTests: XCTestCase {
  func testEverythingInATabComesBackAfterTheServerWasKilled() throws {
    let site = try Site(usesDatabase: true)
    let first = try site.serve()
    let visitor = Visitor(first)
    let tab = try visitor.signIn("Ann")
    let product = try visitor.firstProduct(in: tab)
    _ = try visitor.get("\(tab)?product=\(product)")
    _ = try visitor.get("\(tab)?detail=details")
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    let change: [String: Any] = [
      "page": "a", "number": 1, "search": "ch", "listScroll": 31.5, "listWidth": 275,
      "detailScroll": 12, "editorScroll": 3, "title": "Teapot 茶 <b>&\"'",
      "description": "One\nline, “another”, e\u{301}",
      "focus": ["field": "title", "start": 2, "end": 5],
    ]
    XCTAssertEqual(try visitor.tell(change, in: tab).status, 200)
    let before = try visitor.get(tab)
    try first.kill()

    visitor.server = try site.serve()
    let after = try visitor.get(tab)
    XCTAssertEqual(after.status, 200)
    XCTAssertEqual(after.text, before.text)
    for part in [
      #"type="search" value="ch""#, #"data-list-scroll="31.5""#, #"data-list-width="275.0""#,
      #"data-detail-scroll="12.0""#, #"data-scroll="3.0""#, #"data-focus="title""#,
      #"data-start="2" data-end="5""#, #"value="Teapot 茶 &lt;b&gt;&amp;&quot;&#39;""#,
      "One\nline, “another”, e\u{301}</textarea>",
      #"<a href="\#(tab)?detail=details" aria-current="page">"#,
    ] {
      XCTAssertTrue(after.text.contains(part), "\(part) is not in \(after.text)")
    }
  }

  func testAPageNeverShowsAsStoredWhatIsNotAndItsServerKeepsIt() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve("--close-after", "0.4"))
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    func tell(_ number: Int, _ words: String) throws -> Int {
      try visitor.tell(["page": "a", "number": number, "search": words], in: tab, token: token)
        .status
    }
    XCTAssertEqual(try tell(1, "early"), 200)
    let name = try XCTUnwrap(try site.stored("tab-").first)
    let file = try XCTUnwrap(try site.files()[name])
    // What the store writes first; nobody can open this as a file, root neither.
    let obstacle = file.appendingPathExtension("new")
    try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
    XCTAssertEqual(try tell(2, "late"), 503)
    let answer = try visitor.get(tab)
    XCTAssertEqual(answer.status, 503)
    XCTAssertTrue(answer.text.contains("Not stored. Try again in a moment."), answer.text)
    // It would be closed a while after that.
    Thread.sleep(forTimeInterval: 1)
    XCTAssertTrue(try visitor.operatorsPage().contains("1 open at this server, 1 stored"))
    try FileManager.default.removeItem(at: obstacle)
    let shown = try visitor.get(tab)
    XCTAssertEqual(shown.status, 200)
    XCTAssertTrue(shown.text.contains(#"type="search" value="late""#), shown.text)
    try visitor.server.kill()
    visitor.server = try site.serve()
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="late""#))
  }

  /// The process is killed while it works at a request; each answer that has come counts.
  func testNothingThatWasAcknowledgedIsLostWhenTheServerIsKilled() throws {
    let site = try Site(usesDatabase: true)
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    var acknowledged = 0
    for life in 1...5 {
      let process = visitor.server.identifier
      for number in 1... {
        if number > life {
          // From another thread, so that it comes in the midst of a request.
          DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(400 * life)) {
            kill(process, SIGKILL)
          }
        }
        let change: [String: Any] = [
          "page": "life \(life)", "number": number, "search": "word \(acknowledged + 1)",
        ]
        guard let answer = try? visitor.tell(change, in: tab, token: token) else { break }
        XCTAssertEqual(answer.status, 200)
        acknowledged += 1
      }
      XCTAssertEqual(try visitor.server.ending(), .signal(SIGKILL))
      visitor.server = try site.serve()
      let page = try visitor.get(tab).text
      let words = (acknowledged...acknowledged + 1).map { #"type="search" value="word \#($0)""# }
      XCTAssertTrue(words.contains(where: page.contains), "\(words) are not in \(page)")
    }
  }

  /// Two servers, each asked in turn: no request depends on the server of the one before.
  func testAnyServerAnswersForATabWithWhatAnotherOneHasStored() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve(), try site.serve()]
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    for number in 1...10 {
      visitor.server = servers[number % 2]
      let change: [String: Any] =
        number % 3 == 0
        ? ["page": "a", "number": number, "listScroll": number]
        : ["page": "a", "number": number, "search": "word \(number)"]
      XCTAssertEqual(
        try visitor.tell(change, in: tab, token: token).text, #"{"revision":"\#(number)"}"#)
    }
    for server in servers {
      visitor.server = server
      let page = try visitor.get(tab).text
      XCTAssertTrue(page.contains(#"value="word 10""#), page)
      XCTAssertTrue(page.contains(#"data-list-scroll="9.0""#), page)
    }
    guard !site.hasDatabase else { return }
    let names = try site.stored("tab-")
    // What is told again goes to the history as well, where the oldest and the two newest stay.
    XCTAssertLessThanOrEqual(names.count { $0.contains(".history-") }, 3)
  }

  /// The server that is asked last has shown this before, and another one something else since.
  func testAChangeBackIsStoredByAServerThatHasNotSeenTheOtherOne() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve(), try site.serve()]
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    for (number, search) in ["a", "b", "a"].enumerated() {
      visitor.server = servers[number % 2]
      try visitor.tell(["page": "a", "number": number, "search": search], in: tab, token: token)
    }
    visitor.server = servers[1]
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="a""#))
  }

  func testAPageHearsOfWhatAnotherServerStores() throws {
    let site = try Site(usesDatabase: true)
    guard site.hasDatabase else { throw XCTSkip("A folder tells of no changes.") }
    let (desk, phone) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let tab = try desk.signIn("Ann")
    phone.cookies = desk.cookies
    let events = try desk.events(of: tab)
    XCTAssertTrue(try events.next().contains(#""revision":"0""#))
    try phone.tell(["page": "phone", "number": 1, "search": "chess"], in: tab)
    while try !events.next().contains(#""revision":"1""#) {}
    XCTAssertTrue(try desk.get(tab).text.contains(#"value="chess""#))
    let product = try phone.save("New", in: tab)
    while try !events.next().contains("{\"product\":\"\(product)\"}") {}
  }

  func testAMessageThatComesLateChangesNothing() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    try visitor.tell(["page": "a", "number": 2, "search": "new"], in: tab)
    try visitor.tell(["page": "a", "number": 1, "search": "old"], in: tab)
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="new""#))
  }

  /// A server that was stopped for a while, or a network, may bring one after others.
  func testAMessageThatComesLateChangesNothingAfterOthersAtOtherServers() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve(), try site.serve()]
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let old: [String: Any] = ["page": "a", "number": 1, "search": "old"]
    try visitor.tell(old, in: tab, token: token)
    visitor.server = servers[1]
    try visitor.tell(["page": "a", "number": 2, "search": "new"], in: tab, token: token)
    try visitor.tell(["page": "b", "number": 1, "listScroll": 5], in: tab, token: token)
    for server in servers {
      visitor.server = server
      XCTAssertEqual(try visitor.tell(old, in: tab, token: token).text, #"{"revision":"3"}"#)
      let page = try visitor.get(tab).text
      XCTAssertTrue(page.contains(#"type="search" value="new""#), page)
      XCTAssertTrue(page.contains(#"data-list-scroll="5.0""#), page)
    }
  }

  /// The first save of a tab makes a place for it before its state.
  func testATabWhoseServerWasKilledBeforeItWasStoredIsRemovedByWhoOpensIt() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let name = try XCTUnwrap(site.stored("tab-").first)
    let identifier = String(repeating: "ab", count: 16)
    let other = String(name.dropLast(identifier.count)) + identifier
    let folder = site.file("data/states")
    let key = site.file("other key")
    try result {
      let keeper = try StateKeeper(
        application: "killed", name: other, directory: RemoteStateDirectory(KilledStore(folder)),
        keys: KeyFile(path: key))
      _ = try await keeper.restore(into: [])
      do {
        _ = try await keeper.save([])
        XCTFail("It is stored.")
      } catch is RestorationError {}
      await keeper.close()
    }
    XCTAssertEqual(Set(try site.stored("tab-")), [name, other])
    XCTAssertEqual(try visitor.get("/tabs/\(identifier)").status, 404)
    XCTAssertEqual(try site.stored("tab-"), [name])
    XCTAssertEqual(try visitor.get(tab).status, 200)
  }

  func testATabThatNobodyLooksAtIsClosedAndComesBack() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve("--close-after", "0.2"))
    let tab = try visitor.signIn("Ann")
    try visitor.tell(["page": "a", "number": 1, "search": "chess"], in: tab)
    try TestSupport.wait(for: "the tab to be closed") {
      try visitor.operatorsPage().contains("0 open at this server, 1 stored")
    }
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="chess""#))
    XCTAssertTrue(try visitor.operatorsPage().contains("1 open at this server, 1 stored"))
  }

  func testTheAgeOfASessionIsThatOfTheTabAndNotOfItsServer() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    func age() throws -> Int {
      let page = try visitor.operatorsPage()
      return try XCTUnwrap(
        page.firstMatch(of: /<td>[0-9]+<\/td><td>([0-9]+) s<\/td>/).flatMap { Int($0.1) }, page)
    }
    try TestSupport.wait(for: "a second") { try age() >= 1 }
    try visitor.server.kill()
    visitor.server = try site.serve()
    _ = try visitor.get(tab)
    XCTAssertGreaterThanOrEqual(try age(), 1)
  }

  func testTheServerEndsWhenItIsAskedToAlsoWhileAPageListens() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let events = try visitor.events(of: tab)
    XCTAssertTrue(try events.next().contains("event: changed"))
    XCTAssertEqual(try visitor.server.stop(), .exit(0))
    while try events.connection.read(within: 5) != nil {}
  }

  func testAClosedTabIsGoneFromTheStore() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    try visitor.post("\(tab)/close", tokenOf: tab)
    XCTAssertEqual(try visitor.get(tab).status, 404)
    XCTAssertEqual(try site.stored("tab-"), [])
    XCTAssertEqual(try site.stored("web.session"), [])
  }
}

/// A store whose process is killed after its first write.
private final class KilledStore: RemoteStateStore {
  private let store: FolderStore
  private let writeCount = Atomic(0)

  init(_ folder: String) throws { store = try FolderStore(folder) }

  var location: String { store.location }

  func load(_ name: String) async throws -> RemoteState? { try await store.load(name) }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    guard writeCount.add(1, ordering: .relaxed).oldValue == 0 else { throw CancellationError() }
    return try await store.replace(name, with: bytes, expecting: version)
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await store.remove(name, expecting: version)
  }

  func names(prefix: String) async throws -> [String] { try await store.names(prefix: prefix) }
}
