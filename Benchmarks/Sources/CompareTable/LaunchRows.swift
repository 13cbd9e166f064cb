import ArchiveCodec
internal import Crypto
internal import Foundation
internal import Peers
internal import RestorationKit
internal import Tables
internal import Workload

/// The start of an app: of a process with one state, and of a host with many windows.
enum LaunchRows {
  static let launching = "--launch"
  static let reading = "--read-json"

  private static let nodeCount = 10

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    [try await startOfProcess(goal: .atMost(1.18))]
  }

  // MARK: A process

  private static let application = "org.example.catalog"

  private static func keeper(in directory: String) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: application, directory: FileStateDirectory(path: "\(directory)/states"),
      keys: KeyFile(path: "\(directory)/key"))
    try keeper.register(ProductNode.self)
    return keeper
  }

  static func startOfProcess(goal: Goal) async throws -> Row {
    let temporary = try TemporaryDirectory()
    defer { temporary.remove() }
    let directory = temporary.path("app")
    let page = Catalog(productCount: nodeCount).products
    let saved = try keeper(in: directory)
    _ = try await saved.save([ProductRoot(page)])
    await saved.close()
    let key = SymmetricKey(size: .bits256)
    try key.withUnsafeBytes { try Data($0).write(to: URL(filePath: "\(directory)/json.key")) }
    try ChaChaPoly.seal(try JSONEncoder().encode(page), using: key).combined
      .write(to: URL(filePath: "\(directory)/main.json"))
    var times: [(ours: Double, peer: Double)] = []
    for _ in 0..<21 {
      times.append(
        (
          try processorTime(ofProcess: [launching, directory]),
          try processorTime(ofProcess: [reading, directory])
        ))
    }
    // The first of them has warmed up the files.
    times.removeFirst()
    return Row(
      "Launch of a process to \(nodeCount) restored nodes, against one that reads a file of JSON +"
        + " ChaChaPoly, processor time, ms",
      ours: times.map(\.ours).median, peer: times.map(\.peer).median,
      ratio: times.map { $0.ours / $0.peer }.median, goal: goal)
  }

  /// Runs this program again.
  ///
  /// - Returns: The processor time of the child, in milliseconds.
  private static func processorTime(ofProcess arguments: [String]) throws -> Double {
    let before = try childrenTime()
    let child = Process()
    child.executableURL = Bundle.main.executableURL
    child.arguments = arguments
    try child.run()
    child.waitUntilExit()
    guard child.terminationStatus == 0 else {
      throw WorkloadError("the process with \(arguments[0]) failed")
    }
    return try childrenTime() - before
  }

  private static func childrenTime() throws -> Double {
    var usage = rusage()
    #if os(Linux)
    let result = getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    #else
    let result = getrusage(RUSAGE_CHILDREN, &usage)
    #endif
    guard result == 0 else {
      throw WorkloadError("the system does not tell the time of a child")
    }
    func milliseconds(_ time: timeval) -> Double {
      Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000
    }
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
  }

  static func launchInThisProcess(directory: String) async throws {
    let root = ProductRoot(ProductNode(identifier: Catalog(productCount: 1).products[0].identifier))
    let report = try await keeper(in: directory).restore(into: [root])
    guard report.outcome == .restored, root.products.count == nodeCount else {
      throw WorkloadError(report.description)
    }
  }

  static func readInThisProcess(directory: String) throws {
    let key = SymmetricKey(data: try Data(contentsOf: URL(filePath: "\(directory)/json.key")))
    let sealed = try Data(contentsOf: URL(filePath: "\(directory)/main.json"))
    let encoded = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
    guard try JSONDecoder().decode([Product].self, from: encoded).count == nodeCount else {
      throw WorkloadError("not all nodes came back")
    }
  }
}
