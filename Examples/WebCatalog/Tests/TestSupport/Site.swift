package import Foundation
import XCTest

/// What servers share: a folder, a master key, and the token of operators.
package final class Site {
  package static let operatorsToken = "operators-token-of-a-test"

  package let directory: URL
  /// The connection string and the schema, if servers share a database.
  package let database: (connection: String, schema: String)?
  private var serverCount = 0

  /// Makes a site without servers.
  ///
  /// - Parameter usesDatabase: Whether they share tables in PostgreSQL, if the variable
  ///   RESTORATION_POSTGRES says where; otherwise they share a folder.
  /// - Throws: If its folder cannot be made.
  package init(usesDatabase: Bool = false) throws {
    let connection = ProcessInfo.processInfo.environment["RESTORATION_POSTGRES"]
    let schema = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    database = usesDatabase ? connection.map { ($0, schema) } : nil
    directory = FileManager.default.temporaryDirectory
      .appending(path: "web-catalog-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(Self.operatorsToken.utf8).write(to: directory.appending(path: "token"))
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// The path of a file that servers share.
  package func file(_ name: String) -> String { directory.appending(path: name).path }

  package var hasDatabase: Bool { database != nil }

  private var options: [String] {
    database.map { ["--database", $0.connection, "--schema", $0.schema] } ?? []
  }

  /// Starts a server, and waits until it answers.
  package func serve(
    port: Int = 0, masterKey: String = "key", _ options: String...
  ) throws -> Server {
    try serve(port: port, masterKey: masterKey, options)
  }

  /// Starts one that can have so many files and connections open.
  package func serve(descriptors: Int) throws -> Server {
    try serve([], with: ["prlimit", "--nofile=\(descriptors):\(descriptors)"])
  }

  package func serve(
    port: Int = 0, masterKey: String = "key", _ options: [String], with limits: [String] = []
  ) throws -> Server {
    serverCount += 1
    let port = port == 0 ? try Port.free() : port
    return try Server(
      limits + [
        Self.program, "--port", "\(port)", "--folder", directory.appending(path: "data").path,
        "--master-key", file(masterKey),
        "--operators-token", directory.appending(path: "token").path,
      ] + self.options + options, output: directory.appending(path: "server-\(serverCount)"),
      of: self)
  }

  /// The files of the folder that the servers share, by the names of what is in them.
  package func files() throws -> [String: URL] {
    let folder = directory.appending(path: "data/states")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".state") }.map { folder.appending(path: $0) }
    return try Dictionary(
      uniqueKeysWithValues: files.map { file in
        let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        return (String(decoding: lines[1], as: UTF8.self), file)
      })
  }

  /// The names of what is stored that begin with a prefix.
  package func stored(_ prefix: String) throws -> [String] {
    try files().keys.filter { $0.hasPrefix(prefix) }.sorted()
  }

  /// Runs the program until it ends by itself.
  ///
  /// - Returns: What it has said.
  package func run(_ options: String...) throws -> String { try run(options) }

  package func run(_ options: [String]) throws -> String {
    let output = directory.appending(path: "output-\(UUID().uuidString)")
    let child = try Child(
      [Self.program, "--folder", file("data")] + options + self.options, output: output)
    let ending = try child.ending()
    let words = try String(contentsOf: output, encoding: .utf8)
    XCTAssertEqual(ending, .exit(0), words)
    return words
  }

  private static var program: String {
    // It is beside the tests.
    Bundle.main.bundleURL.appending(path: "web-catalog").path
  }
}

/// A server in a process of its own.
package final class Server {
  package let port: Int
  private let child: Child
  private let output: URL
  /// Its folder stays as long as a server has it.
  private let site: Site

  fileprivate init(_ command: [String], output: URL, of site: Site) throws {
    (self.output, self.site) = (output, site)
    child = try Child(command, output: output)
    var port: Int?
    try wait(for: "the server. \(Self.text(output))") { [child] in
      port = Self.text(output).split(separator: ":").last
        .flatMap { Int($0.prefix(while: \.isNumber)) }
      guard child.isRunning else { throw HTTP.Problem(description: Self.text(output)) }
      return port != nil
    }
    self.port = port ?? 0
  }

  package var identifier: Int32 { child.identifier }

  package var isRunning: Bool { child.isRunning }

  /// What it has said.
  package var words: String { Self.text(output) }

  private static func text(_ file: URL) -> String {
    (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }

  /// Waits for its end.
  package func ending() throws -> Child.Ending { try child.ending() }

  /// Ends it as a crash or a power cut would.
  package func kill() throws {
    child.send(SIGKILL)
    XCTAssertEqual(try child.ending(), .signal(SIGKILL))
  }

  /// Ends it as an operator does.
  package func stop() throws -> Child.Ending {
    child.send(SIGTERM)
    return try child.ending()
  }
}

/// A browser without a screen: cookies, forms and links.
package final class Visitor {
  package var server: Server
  package var cookies: [String: String] = [:]
  /// The last revision of each tab that a page or an answer has named.
  private var revisions: [String: Int] = [:]

  package init(_ server: Server, cookies: [String: String] = [:]) {
    (self.server, self.cookies) = (server, cookies)
  }

  package func get(_ path: String, headers: [String: String] = [:]) throws -> Answer {
    let answer = try send("GET", path, headers: headers)
    note(answer.text.firstMatch(of: /data-revision="([0-9]+)"/)?.1, of: path)
    return answer
  }

  private func note(_ revision: Substring?, of tab: String) {
    if let revision = revision.flatMap({ Int($0) }) { revisions[tab] = revision }
  }

  package func send(
    _ method: String, _ path: String, headers: [String: String] = [:], body: Data = Data()
  ) throws -> Answer {
    let headers = withCookies(headers)
    let answer = try HTTP.send(method, path, port: server.port, headers: headers, body: body)
    takeCookies(of: answer)
    return answer
  }

  private func takeCookies(of answer: Answer) {
    for (name, value) in answer.headers where name.lowercased() == "set-cookie" {
      let parts = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      cookies[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
  }

  private func withCookies(_ headers: [String: String]) -> [String: String] {
    guard !cookies.isEmpty else { return headers }
    let cookies = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    return headers.merging(["Cookie": cookies]) { $1 }
  }

  /// Sends a form with the token that a page has, and with the product of its editor.
  @discardableResult
  package func post(
    _ path: String, _ fields: [String: String] = [:], tokenOf page: String = "/"
  ) throws -> Answer {
    let text = try get(page).text
    let edited = Self.editedProduct(in: text).map { ["product": $0] } ?? [:]
    return try post(path, edited.merging(fields) { $1 }, token: token(in: text, of: page))
  }

  /// The product whose words a page edits.
  package static func editedProduct(in page: String) -> String? {
    page.firstMatch(of: /name="product" value="([0-9A-F-]{36})"/).map { String($0.1) }
  }

  @discardableResult
  package func post(_ path: String, _ fields: [String: String], token: String?) throws -> Answer {
    var fields = fields
    fields["token"] = token
    let body = fields.map { "\($0.key)=\(Self.escaped($0.value))" }.joined(separator: "&")
    return try send(
      "POST", path, headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Data(body.utf8))
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  package func token(of page: String = "/") throws -> String {
    try token(in: get(page).text, of: page)
  }

  private func token(in text: String, of page: String) throws -> String {
    let match = try XCTUnwrap(
      text.firstMatch(of: /name="token" value="([0-9a-f]{64})"/), "\(page) has no form: \(text)")
    return String(match.1)
  }

  /// Signs in with an empty account, or one that is there.
  ///
  /// - Returns: The path of a new tab.
  package func signIn(_ name: String, _ passphrase: String = "") throws -> String {
    let answer = try post("/sign-in", ["name": name, "passphrase": passphrase])
    let path = try path(of: answer)
    return path.hasPrefix("/tabs/") ? path : try self.path(of: post("/tabs"))
  }

  /// Where an answer leads.
  package func path(of answer: Answer) throws -> String {
    XCTAssertEqual(answer.status, 303, answer.text)
    return try XCTUnwrap(answer["Location"])
  }

  /// Tells what a user does in a tab, as the page does that it has now: once more if another page
  /// has changed the same, as for a user who sees both and keeps their own.
  ///
  /// A change that names a revision is told as it is.
  @discardableResult
  package func tell(
    _ change: [String: Any], in tab: String, token: String? = nil
  ) throws -> Answer {
    var change = change
    if change["title"] ?? change["description"] != nil, change["product"] == nil {
      change["product"] = Self.editedProduct(in: try get(tab).text)
    }
    let token = try token ?? self.token(of: tab)
    var answer = try told(change, in: tab, token: token)
    if answer.status == 412, change["revision"] == nil {
      answer = try told(change, in: tab, token: token)
    }
    return answer
  }

  private func told(_ change: [String: Any], in tab: String, token: String) throws -> Answer {
    let change = ["revision": revisions[tab] ?? 0].merging(change) { $1 }
    let answer = try request(change, in: tab, token: token).answer()
    takeCookies(of: answer)
    note(answer.text.firstMatch(of: /"revision":"([0-9]+)"/)?.1, of: tab)
    return answer
  }

  /// Tells a change as it is, and does not wait for the answer.
  package func request(
    _ change: [String: Any], in tab: String, token: String
  ) throws -> HTTP.Asked {
    try HTTP.begin(
      "POST", tab + "/changes", port: server.port,
      headers: withCookies(["Content-Type": "application/json", "X-Form-Token": token]),
      body: JSONSerialization.data(withJSONObject: change))
  }
}
