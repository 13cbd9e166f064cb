package import Foundation
import XCTest

/// Nginx in front of servers, with a configuration and a port of its own.
package final class Proxy {
  package let port: Int
  private let child: Child

  /// Starts it.
  ///
  /// - Throws: `XCTSkip` if this machine does not have it.
  package convenience init(to servers: [Server], in directory: URL) throws {
    try self.init(toPorts: servers.map(\.port), in: directory)
  }

  /// Starts it for servers of any kind.
  ///
  /// - Parameters:
  ///   - servers: The ports of its servers.
  ///   - directory: Where it has its files.
  ///   - descriptors: If it is not nil, a process may have so many files, and nginx has a master
  ///     that starts another process with the number of its configuration.
  /// - Throws: `XCTSkip` if this machine does not have it.
  package init(toPorts servers: [Int], in directory: URL, descriptors: Int? = nil) throws {
    try skipIfMissing("nginx")
    port = try Port.free()
    let folder = directory.appending(path: "nginx")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = folder.appending(path: "nginx.conf")
    try Self.configuration(port, servers, folder.path)
      .write(to: configuration, atomically: true, encoding: .utf8)
    let output = folder.appending(path: "output")
    child = try Child(
      (descriptors.map { ["prlimit", "--nofile=\($0):"] } ?? []) + [
        "/usr/sbin/nginx", "-p", folder.path, "-e", output.path, "-c", configuration.path,
        "-g", "daemon off;" + (descriptors == nil ? " master_process off;" : ""),
      ],
      output: output)
    try wait(for: "nginx. \((try? String(contentsOf: output, encoding: .utf8)) ?? "")") {
      (try? HTTP.send("GET", "/health", port: self.port))?.status == 200
    }
  }

  deinit {
    child.send(SIGTERM)
    _ = try? child.ending()
  }

  private static func configuration(
    _ port: Int, _ servers: [Int], _ folder: String
  ) throws -> String {
    let template = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../nginx.conf")
    return try String(contentsOf: template, encoding: .utf8)
      .replacing("@PORT@", with: "\(port)").replacing("@FOLDER@", with: folder)
      .replacing(
        "@SERVERS@",
        with: servers.map { "server 127.0.0.1:\($0) max_fails=0;" }.joined(separator: "\n    "))
  }
}
