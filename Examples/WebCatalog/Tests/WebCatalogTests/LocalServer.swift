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

  func answer(
    _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: String
  ) async throws -> (head: HTTPResponse, text: String) {
    let request = Request(
      head: HTTPRequest(
        method: method, scheme: "http", authority: "localhost", path: path, headerFields: headers),
      body: RequestBody(buffer: ByteBuffer(string: body)))
    let response = try await respond(request)
    let text = Text()
    try await response.body.write(text)
    return (response.head, String(buffer: text.buffer))
  }

  private final class Text: ResponseBodyWriter {
    var buffer = ByteBuffer()

    func write(_ bytes: ByteBuffer) { buffer.writeImmutableBuffer(bytes) }

    func finish(_ trailingHeaders: HTTPFields?) {}
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
    let master = try ArchiveKey()
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
