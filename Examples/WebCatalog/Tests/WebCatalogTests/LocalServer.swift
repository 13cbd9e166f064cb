import ArchiveCodec
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import WebCatalogKit
import XCTest

/// A server in the process of the test, which answers requests without connections: a test starts
/// and kills thousands of them.
final class LocalServer: Sendable {
  let store: FaultyRemoteStateStore
  private let respond: @Sendable (Request) async throws -> Response

  init(
    _ site: LocalSite, faults: @escaping @Sendable (RemoteCall) -> RemoteFault?
  ) async throws {
    store = FaultyRemoteStateStore(site.store, faults: faults)
    respond = try await Self.answers(
      of: WebCatalog(store: store, keys: site.keys, pages: site.pages).application { _ in })
  }

  private static func answers(
    of application: some ApplicationProtocol
  ) async throws -> @Sendable (Request) async throws -> Response {
    let responder = try await application.responder
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return { request in
      let source = ApplicationRequestContextSource(
        channel: NIOAsyncTestingChannel(), logger: logger)
      return try await responder.respond(to: request, context: .init(source: source))
    }
  }

  /// Ends it as a crash does: nothing that it still does reaches the store.
  func kill() { store.isReachable = false }

  fileprivate func answer(
    _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: String
  ) async throws -> (head: Response, text: String) {
    let request = Request(
      head: HTTPRequest(
        method: method, scheme: "http", authority: "localhost", path: path, headerFields: headers),
      body: RequestBody(buffer: ByteBuffer(string: body)))
    let response = try await respond(request)
    let text = Text()
    try await response.body.write(text)
    return (response, String(buffer: text.buffer))
  }

  private final class Text: ResponseBodyWriter {
    var buffer = ByteBuffer()

    func write(_ bytes: ByteBuffer) { buffer.writeImmutableBuffer(bytes) }

    func finish(_ trailingHeaders: HTTPFields?) {}
  }
}

/// A browser of such servers, which shows one tab.
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
    if let set = head.headers[.setCookie] { cookie = String(set.prefix { $0 != ";" }) }
    status = Int(head.status.code)
    guard status == 303, let place = head.headers[.location] else { return text }
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

/// What servers of a test share: users, tabs and words of products, in memory.
struct LocalSite {
  let store: MemoryRemoteStateStore
  let keys: UserKeys
  let pages: Pages

  init(keys: UserKeys, pages: Pages) {
    (store, self.keys, self.pages) = (MemoryRemoteStateStore(), keys, pages)
  }

  func serve(
    faults: @escaping @Sendable (RemoteCall) -> RemoteFault? = { _ in nil }
  ) async throws -> LocalServer {
    try await LocalServer(self, faults: faults)
  }

  /// The same with a store of its own.
  func copy() async throws -> LocalSite {
    let copy = LocalSite(keys: keys, pages: pages)
    for name in try await store.names(prefix: "") {
      guard let state = try await store.load(name) else { continue }
      _ = try await copy.store.replace(name, with: state.bytes, expecting: nil)
    }
    return copy
  }

  /// The words that are saved of the only product that has some.
  func saved() async throws -> Words {
    let bytes = try await store.load("web.edits")?.bytes ?? []
    let words = try JSONDecoder().decode([String: Words].self, from: Data(bytes)).values.first
    return try XCTUnwrap(words)
  }
}

/// A site whose users have tabs that show one product, the words of which are saved.
struct LocalStart: Sendable {
  let site: LocalSite
  /// Tabs of one user, and one of another.
  let (ann, second, eve): (LocalBrowser, LocalBrowser, LocalBrowser)

  init() async throws {
    let master = FixedKeyProvider(try ArchiveKey())
    site = LocalSite(
      keys: UserKeys(store: MemoryRemoteStateStore(), master: master), pages: try await Pages())
    let server = try await site.serve()
    var (ann, eve) = (LocalBrowser(server), LocalBrowser(server))
    try await ann.signIn("Ann")
    try await eve.signIn("Eve")
    var second = LocalBrowser(server, beside: ann)
    try await second.makeTab()
    let product = try XCTUnwrap(ann.firstProduct)
    try await ann.showAlone(product)
    try await second.showAlone(product)
    try await eve.showAlone(product)
    try await ann.press("begin")
    try await ann.press("save", Words(title: "Title", description: "Text"))
    (self.ann, self.second, self.eve) = (ann, second, eve)
    server.kill()
  }
}

extension LocalBrowser {
  /// Shows a product, and no other in the list.
  fileprivate mutating func showAlone(_ product: String) async throws {
    try await load("\(tab)?product=\(product)")
    try await load("\(tab)?search=\(try XCTUnwrap(package))")
  }
}
