internal import ArchiveCodec
internal import Foundation
internal import RestorationKit
internal import RestorationPostgreSQL
internal import RestorationSharing
internal import Tables
internal import Workload

/// Sessions that are all alive in one process.
enum LiveSessions {
  private static let count = 10_000

  static func row(_ string: String) throws -> Row {
    let child = Process()
    let output = Pipe()
    child.executableURL = Bundle.main.executableURL
    child.arguments = [StoreTable.memoryArgument, "\(count)"]
    child.standardOutput = output
    try child.run()
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    child.waitUntilExit()
    guard let bytes = Int(String(decoding: answer, as: UTF8.self)) else {
      throw WorkloadError("the process with the sessions failed")
    }
    let each = Double(bytes) / Double(count) / 1024
    return Row(
      "Memory of 10,000 live sessions, KiB each", ours: each, bound: 100, goal: "≤ 100 KiB",
      met: each <= 100)
  }

  /// Restores and saves all of them, and says by how much the process has grown.
  static func reportMemory(_ string: String, count: Int) async throws {
    let store = try PostgreSQLStateStore(string, options: .init(schema: "live"))
    let directory = RemoteStateDirectory(store)
    let products = Catalog(productCount: Session.nodeCount).products
    let before = try residentByteCount()
    var sessions: [Session] = []
    for number in 0..<count {
      // As on a server: each user has a key.
      let session = try Session(
        "user \(number)", products: products, in: directory, keys: try .ephemeral())
      try await session.save()
      try await session.change(number)
      _ = try await session.restore()
      sessions.append(session)
    }
    let after = try residentByteCount()
    withExtendedLifetime(sessions) {}
    try FileHandle.standardOutput.write(contentsOf: Data("\(after - before)".utf8))
  }

  private static func residentByteCount() throws -> Int {
    let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw WorkloadError("the system does not tell the memory")
    }
    return kibibytes << 10
  }
}
