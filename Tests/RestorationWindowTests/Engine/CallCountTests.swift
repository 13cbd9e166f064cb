#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Counts what an app asks of the system, with `strace`; without it the test is skipped.
///
/// The counts are exact: a call that is added fails the test, and so does one that is saved. Calls
/// that only wait, or manage the memory and the threads of the process, are not counted.
final class CallCountTests: XCTestCase {
  private static let strace = "/usr/bin/strace"

  func testTheCallsOfAKeeper() throws {
    let counts = [
      "nothing is there: 20", "first save: 57", "first restore: 22", "first change: 11",
      "later change: 8", "no change: 1", "restore: 20", "discard: 35", "nothing is stored: 14",
    ]
    try check("testTheKeeperThatIsCounted", counts)
  }

  /// The app: each launch is one keeper after the other in the same process.
  @MainActor
  func testTheKeeperThatIsCounted() async throws {
    let newKeeper = try keepers()
    @MainActor func launch() throws -> (StateKeeper, TestNode) {
      let nodes = (0..<9).map { TestNode("node\($0)", value: "text \($0)") }
      return (try newKeeper(), TestNode("root", children: nodes))
    }
    @MainActor func save(_ phase: String, _ app: (StateKeeper, TestNode)) async throws {
      let report = try await count(phase) { try await app.0.save([app.1]) }
      XCTAssertEqual(report.problems, [])
    }

    var app = try launch()
    try await count("nothing is there") { _ = try await app.0.restore(into: [app.1]) }
    try await save("first save", app)
    await app.0.close()

    app = try launch()
    try await count("first restore") { _ = try await app.0.restore(into: [app.1]) }
    app.1.value = "first"
    try await save("first change", app)
    app.1.value = "later"
    try await save("later change", app)
    try await save("no change", app)
    await app.0.close()

    app = try launch()
    try await count("restore") { _ = try await app.0.restore(into: [app.1]) }
    try await count("discard") { try await app.0.discardState() }
    await app.0.close()

    app = try launch()
    try await count("nothing is stored") { _ = try await app.0.restore(into: [app.1]) }
    await app.0.close()
  }

  /// Makes the keepers of the app that is counted, each for the same files.
  @MainActor
  private func keepers() throws -> @MainActor () throws -> StateKeeper {
    guard let folder = AppUnderTest.current?.folder else {
      throw XCTSkip("Runs in a process of its own.")
    }
    let directory = FileStateDirectory(path: "\(folder)/states")
    let keys = KeyFile(path: "\(folder)/key")
    return {
      try StateKeeper(application: Launch.application, directory: directory, keys: keys)
    }
  }

  // MARK: Counting

  private func count<Result>(_ phase: String, _ body: () async throws -> Result) async rethrows
    -> Result
  {
    Self.mark(phase)
    defer { Self.mark("") }
    return try await body()
  }

  private static let marker = "/the calls of: "

  /// Makes a call that stands in the list where a phase begins or ends.
  private static func mark(_ phase: String) { _ = access(marker + phase, F_OK) }

  private func check(
    _ test: String, _ expected: [String], file: StaticString = #filePath, line: UInt = #line
  ) throws {
    guard access(Self.strace, X_OK) == 0 else { throw XCTSkip("strace is not installed.") }
    let trial = try AppProcess(
      executable: Self.strace, arguments: ["-qq", "-o", "/dev/null", "/bin/true"])
    guard trial.waitUntilExit() == .exited(status: 0) else {
      throw XCTSkip("strace may not look at other processes here.")
    }
    let directory = try TemporaryDirectory()
    let list = directory.child("calls")
    let start = ContinuousClock.now
    let app = try AppProcess(
      executable: Self.strace,
      arguments: [
        "-f", "-qq", "-o", list,
        try FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/exe"), "RestorationWindowTests.CallCountTests/\(test)",
      ],
      folder: directory.child("app"))
    let output = try app.remainingAnswers()
    XCTAssertEqual(app.waitUntilExit(), .exited(status: 0), output.joined(separator: "\n"))
    // Two seconds after a launch its leftovers are swept, whatever is counted then.
    guard start.duration(to: .now) < .seconds(2) else {
      throw XCTSkip("The machine was too slow to count the calls.")
    }
    let phases = try Self.phases(in: String(contentsOfFile: list, encoding: .utf8))
    XCTAssertEqual(
      phases.map { "\($0.name): \($0.calls.count)" }, expected,
      phases.map { "\($0.name):\n  \($0.calls.joined(separator: "\n  "))" }.joined(
        separator: "\n"), file: file, line: line)
  }

  private struct Phase {
    let name: String
    var calls: [String] = []
  }

  private static func phases(in list: String) -> [Phase] {
    var phases: [Phase] = []
    var isInPhase = false
    // The threads in which the C library reads how many processors there are, now and then.
    var askingThreads: Set<Substring> = []
    for line in list.split(separator: "\n") {
      // The number of the thread stands before the call.
      let thread = line.prefix { $0 != " " }
      let call = line.drop { $0 != " " }.drop { $0 == " " }
      if call.contains("/sys/devices/system/cpu/online") {
        askingThreads.insert(thread)
        continue
      }
      if call.hasPrefix("close("), askingThreads.remove(thread) != nil { continue }
      if let name = call.firstRange(of: marker) {
        isInPhase = call[name.upperBound] != "\""
        if isInPhase {
          phases.append(Phase(name: String(call[name.upperBound...].prefix { $0 != "\"" })))
        }
      } else if isInPhase, isCounted(call) {
        phases[phases.count - 1].calls.append(String(call))
      }
    }
    return phases
  }

  private static let uncounted: Set<Substring> = [
    "futex", "gettid", "getpid", "clone", "clone3", "rt_sigprocmask", "rt_sigaction", "rseq",
    "set_robust_list", "sched_getaffinity", "sched_yield", "prctl", "madvise", "mmap", "munmap",
    "brk", "exit", "epoll_wait", "epoll_ctl", "restart_syscall", "setpriority", "eventfd2",
    "read", "ppoll", "timerfd_settime", "timerfd_create", "epoll_create1", "mprotect", "mlock",
    "munlock",
  ]

  private static func isCounted(_ call: Substring) -> Bool {
    guard call.first?.isLetter == true, !uncounted.contains(call.prefix { $0 != "(" }) else {
      return false
    }
    // The run loop of the test is woken by the number 1 in 8 bytes.
    return !call.contains(#""\1\0\0\0\0\0\0\0", 8"#)
  }
}
#endif
