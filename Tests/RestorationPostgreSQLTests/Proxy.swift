#if PostgreSQL
import Foundation
import Synchronization

/// Stands between a store and a server, and does to their bytes what networks do.
final class Proxy: Sendable {
  /// What it does with bytes.
  enum Mode: Hashable {
    case pass
    /// Lets each piece wait.
    case delay(milliseconds: UInt32)
    /// Holds what comes until the mode is another one.
    case stall
    /// Ends the connection with the next bytes of the client, which do not arrive.
    case cutRequests
    /// Ends the connection after some bytes of the client.
    case cutRequestsAfter(byteCount: Int)
    /// Ends the connection with the next bytes of the server, which do not arrive.
    case cutAnswers
  }

  private struct Content {
    var mode = Mode.pass
    /// How many more connections a cut ends; then the mode is to pass.
    var cutCount = 0
    var sockets: Set<Int32> = []
    var silentSockets: Set<Int32> = []
    var isClosed = false
    var acceptedCount = 0
  }

  let port: Int
  private let serverPort: Int
  private let listener: Int32
  private let content = Mutex(Content())

  init(to serverPort: Int) throws {
    self.serverPort = serverPort
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = Self.address(port: 0)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        var size = size
        return bind(listener, address, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isBound else { throw ServerFailure(reason: "The proxy has no port.") }
    port = Int(UInt16(bigEndian: address.sin_port))
    let thread = Thread { [self] in accept() }
    thread.start()
  }

  /// What happens with the bytes that come now.
  func set(_ mode: Mode, cutCount: Int = .max) {
    content.withLock { ($0.mode, $0.cutCount) = (mode, cutCount) }
  }

  /// Holds for ever what comes on the connections that there are, as a machine that is gone.
  func silenceAll() {
    content.withLock { $0.silentSockets = $0.sockets }
  }

  /// How many connections were made.
  var acceptedCount: Int { content.withLock { $0.acceptedCount } }

  var mode: Mode { content.withLock { $0.mode } }

  /// Ends all connections and takes no more.
  func close() {
    content.withLock { content in
      content.isClosed = true
      content.mode = .pass
      content.silentSockets = []
      for socket in content.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func address(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0, !content.withLock({ $0.isClosed }) else { break }
      content.withLock { $0.acceptedCount += 1 }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(port: serverPort)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else {
        Glibc.close(client)
        Glibc.close(server)
        continue
      }
      content.withLock { $0.sockets.formUnion([client, server]) }
      let pair = Pair(client: client, server: server)
      Thread { [self] in pump(pair, isRequest: true) }.start()
      Thread { [self] in pump(pair, isRequest: false) }.start()
    }
    Glibc.close(listener)
  }

  /// Both sockets, which are closed when both directions have ended.
  private final class Pair: Sendable {
    let client: Int32
    let server: Int32
    private let openCount = Atomic(2)

    init(client: Int32, server: Int32) {
      (self.client, self.server) = (client, server)
    }

    /// Ends both directions.
    ///
    /// - Returns: Whether this was the last one.
    func end() -> Bool {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
      return openCount.subtract(1, ordering: .sequentiallyConsistent).newValue == 0
    }
  }

  private func pump(_ pair: Pair, isRequest: Bool) {
    let (source, target) = isRequest ? (pair.client, pair.server) : (pair.server, pair.client)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var byteCount = 0
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      byteCount += count
      guard passes(from: source, isRequest: isRequest, byteCount: byteCount),
        Glibc.send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count
      else { break }
    }
    content.withLock { content in
      guard pair.end() else { return }
      content.sockets.subtract([pair.client, pair.server])
      content.silentSockets.subtract([pair.client, pair.server])
      Glibc.close(pair.client)
      Glibc.close(pair.server)
    }
  }

  /// Whether what came goes on, after a while.
  private func passes(from source: Int32, isRequest: Bool, byteCount: Int) -> Bool {
    while true {
      let (mode, isCut) = content.withLock { content -> (Mode, Bool) in
        let mode = content.silentSockets.contains(source) ? .stall : content.mode
        let isCut =
          switch mode {
          case .cutRequests: isRequest
          case .cutRequestsAfter(let limit): isRequest && byteCount > limit
          case .cutAnswers: !isRequest
          default: false
          }
        if isCut {
          content.cutCount -= 1
          if content.cutCount <= 0 { content.mode = .pass }
        }
        return (mode, isCut)
      }
      if isCut { return false }
      switch mode {
      case .stall: usleep(2000)
      case .delay(let milliseconds):
        usleep(milliseconds * 1000)
        return true
      default: return true
      }
    }
  }
}
#endif
