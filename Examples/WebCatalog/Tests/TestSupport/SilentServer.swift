import Foundation
import Glibc
import Synchronization
import XCTest

/// A server that takes every request, and answers none but that for its health.
package final class SilentServer {
  private final class Requests: Sendable {
    let held = Mutex<[Int32]>([])

    /// Takes them until nobody listens any more.
    func take(at descriptor: Int32) {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
          connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &bytes, bytes.count, 0)
        if String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).hasPrefix("GET /health") {
          let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
          _ = Glibc.send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
          close(connection)
        } else {
          held.withLock { $0.append(connection) }
        }
      }
    }
  }

  package let port: Int
  private let descriptor: Int32
  private let requests = Requests()

  package init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    self.descriptor = descriptor
    var address = Connection.address()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    guard Connection.use(address, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 4096) == 0
    else { throw HTTP.Problem(description: "There is no free port.") }
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    port = Int(in_port_t(bigEndian: address.sin_port))
    Thread.detachNewThread { [requests] in requests.take(at: descriptor) }
  }

  /// How many requests wait for an answer.
  package var heldCount: Int { requests.held.withLock(\.count) }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
    requests.held.withLock { for connection in $0 { close(connection) } }
  }
}

/// Lets this process have many files and connections open, and those that it starts.
///
/// - Throws: `XCTSkip` if it may not.
package func allowFiles(_ count: UInt) throws {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  guard limit.rlim_max >= count else {
    throw XCTSkip("This process may have \(limit.rlim_max) open files, and needs \(count).")
  }
  limit.rlim_cur = max(limit.rlim_cur, count)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
