#if PostgreSQL
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationPostgreSQL
import RestorationTesting
import TestSupport
import XCTest

/// Keepers of several processes whose states are in one database.
final class KeeperTests: XCTestCase {
  private static let keepersOfAProcess = 50
  private static let connectionVariable = "RESTORATION_TEST_CONNECTION"
  private static let processVariable = "RESTORATION_TEST_PROCESS"

  @MainActor
  private static func makeKeeper(
    _ number: Int, _ directory: RemoteStateDirectory, _ keys: any KeyProvider
  ) throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, name: "session \(number)", directory: directory, keys: keys)
  }

  /// What a process notes before and after each save, in a file, since what it said outlasts it.
  private final class Notes: Sendable {
    private let descriptor: Int32

    init(_ path: String) {
      descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }

    func add(_ line: String) {
      let bytes = Array("\(line)\n".utf8)
      XCTAssertEqual(write(descriptor, bytes, bytes.count), bytes.count)
    }
  }

  // MARK: The other process

  /// Saves with all of its keepers until it is told to end, and notes what is stored.
  @MainActor
  func testTheProcessThatSaves() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard let app = AppUnderTest.current, let string = environment[Self.connectionVariable],
      let process = environment[Self.processVariable].flatMap({ Int($0) })
    else { throw XCTSkip("Runs in a process of its own.") }
    let directory = RemoteStateDirectory(try PostgreSQLStateStore(string))
    let notes = Notes("\(app.folder)/notes \(process)")
    let isDone = Flag()
    Thread {
      _ = readLine()
      isDone.set()
    }.start()
    app.say("ready")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.keepersOfAProcess {
        let session = process * Self.keepersOfAProcess + number
        group.addTask {
          try await Self.save(session, directory, app.keys, notes) { isDone.isSet }
        }
      }
      try await group.waitForAll()
    }
    app.say("done")
  }

  @MainActor
  private static func save(
    _ session: Int, _ directory: RemoteStateDirectory, _ keys: any KeyProvider, _ notes: Notes,
    until isDone: () -> Bool
  ) async throws {
    let keeper = try makeKeeper(session, directory, keys)
    let nodes = (0..<10).map { TestNode("node \($0)", value: "nothing") }
    var number = 0
    while !isDone() {
      number += 1
      nodes[number % nodes.count].value = "\(number)"
      notes.add("try \(session) \(number)")
      do {
        let report = try await keeper.save(nodes)
        guard report.outcome == .saved else {
          notes.add("other \(session) \(number) \(report.outcome)")
          return
        }
        notes.add("saved \(session) \(number)")
      } catch {
        // What was not stored is stored with the next save.
        notes.add("failed \(session) \(number)")
      }
    }
  }

  // MARK: The test

  /// The last number of each session that was tried, and that was said to be saved.
  private func noted(in folder: String) throws -> [Int: (tried: Int, saved: Int, failed: Int)] {
    var noted: [Int: (tried: Int, saved: Int, failed: Int)] = [:]
    for process in 0..<4 {
      let text = try String(contentsOfFile: "\(folder)/notes \(process)", encoding: .utf8)
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count == 3, let session = Int(words[1]), let number = Int(words[2]) else {
          XCTFail(String(line))
          continue
        }
        switch words[0] {
        case "try": noted[session, default: (0, 0, 0)].tried = number
        case "saved": noted[session, default: (0, 0, 0)].saved = number
        default: noted[session, default: (0, 0, 0)].failed += 1
        }
      }
    }
    return noted
  }

  private func noteSize(in folder: String) throws -> Int {
    try (0..<4).reduce(0) { size, process in
      let attributes = try FileManager.default.attributesOfItem(
        atPath: "\(folder)/notes \(process)")
      return size + (attributes[.size] as? Int ?? 0)
    }
  }

  @MainActor
  func testWhatTwoHundredKeepersInFourProcessesHaveSavedComesBack() async throws {
    if let obstacle = Server.obstacle { throw XCTSkip(obstacle) }
    let server = try Server(settings: ["fsync=off"])
    let folder = try TemporaryDirectory()
    let key = KeyFile(path: folder.child("app.key"))
    XCTAssertNotNil(try key.key(creating: true))
    let processes = try (0..<4).map {
      try AppProcess.again(
        ["RestorationPostgreSQLTests.KeeperTests/testTheProcessThatSaves"],
        environment: [
          Self.connectionVariable: server.connectionString, Self.processVariable: "\($0)",
        ], folder: folder.path)
    }
    for process in processes { XCTAssertEqual(try process.answer(), "ready") }
    try await eventually("much is saved", within: .seconds(60)) {
      try noteSize(in: folder.path) > 100_000
    }
    XCTAssertEqual(processes[3].kill(), .killed(signal: SIGKILL))
    let before = try noteSize(in: folder.path)
    try await eventually("the others go on") { try noteSize(in: folder.path) > before + 20_000 }
    // It dies while saves wait for its answers.
    try server.signal(SIGSTOP)
    var last = 0
    try await eventually("all wait") {
      try await Task.sleep(for: .milliseconds(200))
      defer { last = (try? noteSize(in: folder.path)) ?? 0 }
      return try noteSize(in: folder.path) == last
    }
    try server.kill()
    try server.start()
    let again = try noteSize(in: folder.path)
    try await eventually("the others go on", within: .seconds(60)) {
      try noteSize(in: folder.path) > again + 100_000
    }
    for process in processes.prefix(3) {
      XCTAssertEqual(try process.ask("end"), "done")
      try process.end()
    }

    let noted = try noted(in: folder.path)
    XCTAssertEqual(noted.count, 200)
    XCTAssertGreaterThan(
      noted.values.reduce(0) { $0 + $1.failed }, 0, "No save saw the server die.")
    let directory = RemoteStateDirectory(try PostgreSQLStateStore(server.connectionString))
    for (session, numbers) in noted {
      let nodes = (0..<10).map { TestNode("node \($0)") }
      let report = try await Self.makeKeeper(session, directory, key).restore(into: nodes)
      guard numbers.saved > 0 else { continue }
      let found = nodes.compactMap { $0.value.flatMap { Int($0) } }.max() ?? 0
      XCTAssertTrue(
        (numbers.saved...numbers.tried).contains(found),
        "\(session): \(found) is stored, \(numbers) \(report.outcome)")
      XCTAssertEqual(
        nodes.map(\.value),
        (0..<10).map { place in
          let last = found - (found - place + 10) % 10
          return last > 0 ? "\(last)" : "nothing"
        }, "\(session)")
    }
  }
}
#endif
import RestorationSharing
