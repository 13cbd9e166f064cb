import Foundation

/// Ports for what is started, killed and started again at the same one.
enum Port {
  /// The system gives none of these to a connection, which could have it in between.
  private static let range = 15_000..<32_000

  /// A port that nobody has now.
  static func free() throws -> Int {
    for _ in 0..<100 {
      let port = Int.random(in: range)
      if isFree(port) { return port }
    }
    throw HTTP.Problem(description: "There is no free port.")
  }

  private static func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return Connection.use(Connection.address(port: port)) { bind(descriptor, $0, $1) } == 0
  }
}
