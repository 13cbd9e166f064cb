package import Foundation
import Glibc

/// A process of a test, which ends with the last reference to it.
///
/// Foundation's `Process` sometimes misses the end of one that is killed while it ends by itself.
package final class Child {
  package let identifier: pid_t
  private let name: String
  private let output: URL
  private let errors: URL
  private var ended: Int32?

  /// Starts a program, which is looked for as a shell does, with no other environment.
  ///
  /// What it prints and what it complains of goes to new files in a folder.
  package init(
    _ command: [String], environment: [String: String], in folder: URL, input: Pipe? = nil
  ) throws {
    name = command[0]
    output = folder.appending(path: "\(UUID().uuidString).output")
    errors = output.appendingPathExtension("errors")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    for (descriptor, file) in [(Int32(1), output), (2, errors)] {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, file.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    }
    let arguments = command.map { strdup($0) }
    let variables = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { (arguments + variables).forEach { free($0) } }
    var started: pid_t = 0
    let problem = posix_spawnp(
      &started, name, &actions, nil, arguments + [nil], variables + [nil])
    guard problem == 0 else { throw CannotStart(name: name, number: problem) }
    identifier = started
  }

  deinit {
    guard isRunning else { return }
    send(SIGKILL)
    var status: Int32 = 0
    waitpid(identifier, &status, 0)
  }

  package var isRunning: Bool {
    guard ended == nil else { return false }
    var status: Int32 = 0
    if waitpid(identifier, &status, WNOHANG) == identifier { ended = status }
    return ended == nil
  }

  /// Whether all its threads wait for something; one that waits for a processor has something to do.
  package var isAsleep: Bool {
    let threads = "/proc/\(identifier)/task"
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: threads)) ?? []
    return numbers.allSatisfy { number in
      // A thread that has ended meanwhile does nothing.
      guard let facts = try? String(contentsOfFile: "\(threads)/\(number)/stat", encoding: .utf8)
      else { return true }
      // The state comes after the name of the program, in which anything may stand.
      return facts.split(separator: ")").last?.hasPrefix(" S") ?? true
    }
  }

  package func send(_ signal: Int32) {
    if isRunning { kill(identifier, signal) }
  }

  /// How a process has ended.
  package enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// Waits for the end.
  package func ending(within seconds: Double = 10) throws -> Ending {
    try waitFor("the end of \(name)", seconds: seconds) { !isRunning }
    let status = ended ?? 0
    return status & 0x7f == 0 ? .exit(status >> 8 & 0xff) : .signal(status & 0x7f)
  }

  /// The whole lines that it has printed so far.
  package var lines: [String] { get throws { try Self.lines(of: output) } }

  /// The whole lines of what it has complained of so far.
  package var errorLines: [String] { get throws { try Self.lines(of: errors) } }

  private static func lines(of file: URL) throws -> [String] {
    String(decoding: try Data(contentsOf: file), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// Waits for the first line that it prints.
  package func firstLine() throws -> String {
    try waitFor("\(name) to start. It says: \(try errorLines)") { try !lines.isEmpty }
    return try lines[0]
  }

  private struct CannotStart: Error {
    let name: String
    let number: Int32
  }
}
