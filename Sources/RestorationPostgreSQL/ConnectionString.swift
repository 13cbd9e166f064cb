#if PostgreSQL
internal import CPostgreSQL
internal import RestorationSharing

/// What libpq has read in a connection string, one server at a time.
///
/// libpq tries the next server only when one answers or refuses. One that is switched off does
/// neither, so the servers are tried one by one here, each with a time of its own.
struct ConnectionString: Sendable {
  /// Keywords and values for libpq, for each server in the order of the string.
  let servers: [[(keyword: String, value: String)]]

  /// The servers and the database, without user, password and options.
  let location: String

  /// What must be in no text.
  private let secrets: [String]

  /// Reads a connection string, as a URI or as pairs of keywords and values.
  ///
  /// - Throws: `RemoteStoreError` with `refused`, whose text has nothing of the string: what
  ///   libpq cannot read may be the password.
  init(_ text: String) throws(RemoteStoreError) {
    try Self.refuseStrayCredentials(in: text)
    let options = try Self.options(in: text)
    let hosts = Self.list(options["host"])
    try Self.refuseNestedString(options["dbname"] ?? "", hosts)
    let addresses = Self.list(options["hostaddr"])
    let ports = Self.list(options["port"])
    let count = max(hosts.count, addresses.count, 1)
    guard hosts.isEmpty || addresses.isEmpty || hosts.count == addresses.count,
      ports.count <= 1 || ports.count == count, ports.allSatisfy({ $0.isEmpty || Int($0) != nil })
    else {
      throw RemoteStoreError(
        .refused,
        "The ports or addresses in the connection string do not fit its servers. Give each server a "
          + "number of its own, and one to all or none; in a URI, write a password percent-encoded."
      )
    }
    let common = options.filter { !["host", "hostaddr", "port"].contains($0.key) }
      .sorted { $0.key < $1.key }.map { (keyword: $0.key, value: $0.value) }
    var servers: [[(keyword: String, value: String)]] = []
    var places: [String] = []
    for index in 0..<count {
      var own = common
      if !hosts.isEmpty { own.append(("host", hosts[index])) }
      if !addresses.isEmpty { own.append(("hostaddr", addresses[index])) }
      let port = ports.count == 1 ? ports.first : ports.isEmpty ? nil : ports[index]
      if let port { own.append(("port", port)) }
      servers.append(own)
      let host = hosts.isEmpty ? addresses.isEmpty ? "" : addresses[index] : hosts[index]
      places.append(host + (port.map { ":\($0)" } ?? ""))
    }
    self.servers = servers
    location = "postgresql://\(places.joined(separator: ","))/\(options["dbname"] ?? "")"
    secrets = ["password", "sslpassword"].compactMap { options[$0] }.filter { !$0.isEmpty }
  }

  /// A text of libpq or of the server, without what is secret.
  ///
  /// None of them is known to quote a password.
  func redacted(_ text: String) -> String {
    secrets.reduce(text) { Self.replacing($1, in: $0) }
  }

  private static func replacing(_ secret: String, in text: String) -> String {
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    let secret = Array(secret.utf8)
    while !rest.isEmpty {
      if rest.starts(with: secret) {
        result += "…".utf8
        rest = rest.dropFirst(secret.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Refuses a URI in which libpq takes the rest of a password for a server or a database.
  private static func refuseStrayCredentials(in text: String) throws(RemoteStoreError) {
    guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"),
      let slashes = text.firstRange(of: "//")
    else { return }
    var rest = text[slashes.upperBound...]
    if let mark = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[mark] == "@" {
      rest = rest[rest.index(after: mark)...]
    }
    guard rest.prefix(while: { $0 != "?" }).contains("@") else { return }
    throw RemoteStoreError(
      .refused,
      "The connection string has an @ where libpq expects a server or a database. Write the @, /, : "
        + "and ? of a password percent-encoded, as %40, %2F, %3A and %3F.")
  }

  /// Refuses a connection string in the place of a database, or a user in that of a server, which
  /// would be in what is shown.
  private static func refuseNestedString(
    _ database: String, _ hosts: [String]
  ) throws(RemoteStoreError) {
    // A socket in the abstract namespace begins with @, and a folder of sockets may have one.
    guard
      database.contains("://") || database.contains("=")
        || hosts.contains(where: { !$0.hasPrefix("/") && $0.dropFirst().contains("@") })
    else { return }
    throw RemoteStoreError(
      .refused,
      "The connection string has another one in the place of a database, or an @ in that of a "
        + "server. Give the inner one alone, or each part with its own keyword.")
  }

  private static func list(_ value: String?) -> [String] {
    guard let value, !value.isEmpty else { return [] }
    return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  private static func options(in text: String) throws(RemoteStoreError) -> [String: String] {
    var message: UnsafeMutablePointer<CChar>?
    let list = unsafe PQconninfoParse(text, &message)
    unsafe PQfreemem(message)
    guard let list = unsafe list else {
      throw RemoteStoreError(
        .refused,
        "The connection string cannot be read. Write it as libpq wants it, such as "
          + "postgresql://user@host/database?sslmode=verify-full or host=… dbname=….")
    }
    defer { unsafe PQconninfoFree(list) }
    var options: [String: String] = [:]
    var option = unsafe list
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        unsafe options[String(cString: keyword)] = String(cString: value)
      }
      unsafe option += 1
    }
    return options
  }
}

extension ConnectionString: CustomStringConvertible, CustomReflectable {
  var description: String { location }
  var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
