package import Foundation
import Glibc

/// What a server has answered.
package struct Answer {
  package let status: Int
  /// As they came, in order.
  package let headers: [(name: String, value: String)]
  package let body: Data

  package var text: String { String(decoding: body, as: UTF8.self) }

  package subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// HTTP over a socket of its own for each request, so that a test can send anything.
package enum HTTP {
  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

  /// Sends a request and waits for the whole answer.
  package static func send(
    _ method: String, _ path: String, port: Int, headers: [String: String] = [:],
    body: Data = Data()
  ) throws -> Answer {
    try begin(method, path, port: port, headers: headers, body: body).answer()
  }

  /// Sends a request, for which the answer may come much later.
  package static func begin(
    _ method: String, _ path: String, port: Int, headers: [String: String] = [:],
    body: Data = Data(), from host: UInt8 = 1
  ) throws -> Asked {
    var head = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
    if headers["Host"] == nil { head += "Host: localhost:\(port)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if method != "GET" || !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
    return try begin(Data((head + "\r\n").utf8) + body, port: port, from: host)
  }

  /// Sends bytes as they are, and reads until the answer is whole or the connection is closed.
  package static func send(_ request: Data, port: Int) throws -> Answer {
    try begin(request, port: port).answer()
  }

  private static func begin(_ request: Data, port: Int, from host: UInt8 = 1) throws -> Asked {
    let connection = try Connection(port: port, from: host)
    connection.write(request)
    return Asked(connection: connection)
  }

  /// A request that was sent.
  package struct Asked {
    package let connection: Connection

    /// Waits for the beginning of the answer.
    package func status() throws -> Int {
      let line = String(decoding: try connection.read(within: 30) ?? Data(), as: UTF8.self)
      guard let status = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
        throw Problem(description: "This is no HTTP: \(line)")
      }
      return status
    }

    /// Waits for the whole answer.
    package func answer() throws -> Answer {
      var received = Data()
      while !isWhole(received), let more = try connection.read(within: 30) { received += more }
      return try HTTP.answer(received)
    }
  }

  /// Whether all is there of a body that says how long it is: not every server closes the
  /// connection when it is asked to.
  private static func isWhole(_ received: Data) -> Bool {
    guard let end = received.range(of: Data("\r\n\r\n".utf8)),
      let length = String(decoding: received[..<end.lowerBound], as: UTF8.self).lowercased()
        .firstMatch(of: /content-length: *([0-9]+)/).flatMap({ Int($0.1) })
    else { return false }
    return received.count - end.upperBound >= length
  }

  private static func answer(_ received: Data) throws -> Answer {
    guard let end = received.range(of: Data("\r\n\r\n".utf8)) else {
      throw Problem(description: "The server closed the connection after \(received.count) bytes.")
    }
    var lines = String(decoding: received[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let parts = lines.removeFirst().split(separator: " ", maxSplits: 2)
    guard parts.count >= 2, let status = Int(parts[1]) else {
      throw Problem(description: "This is no HTTP.")
    }
    let headers = lines.map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (
        name: String(parts[0]),
        value: parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
      )
    }
    var body = received[end.upperBound...]
    if headers.contains(where: { $0.name.lowercased() == "transfer-encoding" }) {
      body = try unchunked(body)
    } else if let length = headers.first(where: { $0.name.lowercased() == "content-length" }) {
      guard Int(length.value) == body.count else {
        throw Problem(description: "\(body.count) bytes came of \(length.value).")
      }
    }
    return Answer(status: status, headers: headers, body: Data(body))
  }

  private static func unchunked(_ body: Data) throws -> Data {
    var (rest, whole) = (body, Data())
    while true {
      guard let end = rest.range(of: Data("\r\n".utf8)),
        let count = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16)
      else { throw Problem(description: "A chunk is missing.") }
      guard count > 0 else { return whole }
      guard rest.endIndex - end.upperBound >= count + 2 else {
        throw Problem(description: "A chunk is cut off.")
      }
      whole += rest[end.upperBound..<end.upperBound + count]
      rest = rest[(end.upperBound + count + 2)...]
    }
  }
}

/// A connection to a port of this machine.
package final class Connection {
  private let descriptor: Int32

  /// Connects, as the client 127.0.0.`host`.
  package init(port: Int, from host: UInt8 = 1) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let (client, server) = (Self.address(host: host), Self.address(port: port))
    guard Self.use(client, { bind(descriptor, $0, $1) }) == 0,
      Self.use(server, { connect(descriptor, $0, $1) }) == 0
    else {
      close(descriptor)
      throw HTTP.Problem(description: "Nobody listens at port \(port).")
    }
  }

  package static func address(port: Int = 0, host: UInt8 = 1) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = (in_addr_t(0x7F00_0000) + in_addr_t(host)).bigEndian
    return address
  }

  package static func use(
    _ address: sockaddr_in, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  deinit { close(descriptor) }

  /// Lets its end leave no port behind that is in use for a minute, as that of many would.
  package func resetAtEnd() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Sends all of it, or as much as the server takes before it closes the connection.
  package func write(_ bytes: Data) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[(bytes.startIndex + sent)...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// Whether the server closes the connection soon; what it sends before that is dropped.
  package func isClosed(within seconds: Double) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while true {
      let left = max(0, deadline.timeIntervalSinceNow)
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, Int32(left * 1000)) == 1 else { return false }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      if recv(descriptor, &bytes, bytes.count, 0) <= 0 { return true }
    }
  }

  /// What comes next; nil at the end.
  package func read(within seconds: Int) throws -> Data? {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, Int32(seconds * 1000)) == 1 else {
      throw HTTP.Problem(description: "Nothing came in \(seconds) seconds.")
    }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Data(bytes[..<count]) : nil
  }
}
