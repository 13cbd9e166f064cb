import Foundation
import Glibc

/// A process of a test, which ends with the last reference to it.
///
/// Foundation's `Process` sometimes misses the end of one that is killed while it ends by itself.
final class Child {
  let identifier: pid_t
  private let name: String
  private var ended: Int32?

  /// Starts a program, which is looked for as a shell does.
  ///
  /// What it prints and what it complains of goes to files, or nowhere.
  init(
    _ command: [String], environment: [String: String], output: URL? = nil, errors: URL? = nil
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (descriptor, file) in [(Int32(1), output), (2, errors)] {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, file?.path ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    let arguments = command.map { strdup($0) }
    let variables = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { (arguments + variables).forEach { free($0) } }
    var started: pid_t = 0
    let problem = posix_spawnp(
      &started, command[0], &actions, nil, arguments + [nil], variables + [nil])
    guard problem == 0 else { throw CannotStart(name: command[0], number: problem) }
    identifier = started
    name = command[0]
  }

  deinit {
    guard isRunning else { return }
    send(SIGKILL)
    var status: Int32 = 0
    waitpid(identifier, &status, 0)
  }

  var isRunning: Bool {
    guard ended == nil else { return false }
    var status: Int32 = 0
    if waitpid(identifier, &status, WNOHANG) == identifier { ended = status }
    return ended == nil
  }

  func send(_ signal: Int32) {
    if isRunning { kill(identifier, signal) }
  }

  /// How a process has ended.
  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// Waits for the end.
  func ending() throws -> Ending {
    try wait(for: "the end of \(name)") { !isRunning }
    let status = ended ?? 0
    return status & 0x7f == 0 ? .exit(status >> 8 & 0xff) : .signal(status & 0x7f)
  }

  private struct CannotStart: Error {
    let name: String
    let number: Int32
  }
}
