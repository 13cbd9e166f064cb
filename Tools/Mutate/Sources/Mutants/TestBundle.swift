package import Foundation

/// The built tests, of which each class, or each test of a slow one, runs in a process of its own.
package struct TestBundle: Sendable {
  private let program: URL
  /// For what tests write and leave behind when they are killed.
  private let scratch: URL

  package init(_ program: URL, scratch: URL) throws {
    self.program = program
    self.scratch = scratch
    try? FileManager.default.removeItem(at: scratch)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
  }

  /// All tests that are in it.
  package func tests() throws -> TestList {
    let process = process(["--list-tests"])
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(
      decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return TestList(output)
  }

  // MARK: - Tracing

  /// A class or a test that passes without mutants, and the mutants that it reaches.
  package struct Trace: Sendable {
    package let name: String
    package let seconds: Double
    package let reached: Set<Int>
  }

  package struct Traces: Sendable {
    /// The fastest first.
    package let traces: [Trace]
    /// The tests that fail without mutants and so say nothing, each with what it says.
    package let leftOut: [String]
  }

  private enum Tracing {
    case passed(Trace)
    case failed(String, Ending)
  }

  /// Runs classes without mutants.
  ///
  /// A slow class is taken apart: a mutant that one of its tests reaches then waits for that test alone.
  /// So is a class that fails, and only its tests that fail are left out.
  ///
  /// - Parameters:
  ///   - classes: Those that are run.
  ///   - slowSeconds: What a slow class takes at least.
  /// - Returns: What passes, and what does not.
  /// - Throws: If no test passes.
  package func traces(of classes: [TestList.Class], slowSeconds: Double = 3) throws -> Traces {
    let wholes = try inPairs(classes) { try trace($0.name) }
    let tests = zip(classes, wholes).flatMap { test, whole -> [String] in
      if case .passed(let trace) = whole, trace.seconds < slowSeconds || test.tests.count == 1 {
        return []
      }
      return test.tests
    }
    let apart = Set(tests.map { $0.prefix { $0 != "/" } })
    let kept = zip(classes, wholes).filter { test, _ in !apart.contains(test.name[...]) }.map(\.1)
    var (passed, leftOut): ([Trace], [String]) = ([], [])
    for tracing in kept + (try inPairs(tests) { try trace($0) }) {
      switch tracing {
      case .passed(let trace): passed.append(trace)
      case .failed(let name, let ending): leftOut.append("\(name) \(ending)")
      }
    }
    guard !passed.isEmpty else {
      throw Failure(
        description: "No test passes without a mutant:\n\(leftOut.joined(separator: "\n"))")
    }
    return Traces(traces: passed.sorted { $0.seconds < $1.seconds }, leftOut: leftOut)
  }

  private func trace(_ name: String) throws -> Tracing {
    let file = scratch.appending(path: "\(name.replacing("/", with: ".")).trace")
    try Data().write(to: file)
    let start = ContinuousClock.now
    let ending = try run(name, .tracing(file: file.path))
    guard case .passed = ending else { return .failed(name, ending) }
    let reached = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return .passed(
      Trace(
        name: name, seconds: (ContinuousClock.now - start) / .seconds(1),
        reached: Set(reached.compactMap { Int($0) })))
  }

  // MARK: - Trying

  package enum Verdict: CustomStringConvertible, Sendable {
    case killed(by: String, Ending)
    case survived(reachedBy: Int)

    package var isKilled: Bool {
      if case .killed = self { true } else { false }
    }

    package var description: String {
      switch self {
      case .killed(let name, let ending): "killed by \(name), which \(ending)"
      case .survived(reachedBy: 0): "survived: no test reaches it"
      case .survived(reachedBy: 1): "survived: one class, or test of a slow one, reaches it"
      case .survived(let count): "survived: \(count) classes, or tests of slow ones, reach it"
      }
    }
  }

  /// Runs what reaches a mutant, in the order of the traces, until something notices it.
  package func verdict(on number: Int, _ traces: [Trace]) throws -> Verdict {
    let related = traces.filter { $0.reached.contains(number) }
    for trace in related {
      // Ample, because other programs want the cores, too.
      let seconds = Int(5 * trace.seconds) + 10
      let ending = try run(trace.name, .on(number, seconds: seconds))
      if case .passed = ending { continue }
      return .killed(by: trace.name, ending)
    }
    return .survived(reachedBy: related.count)
  }

  // MARK: - Running

  package enum Ending: CustomStringConvertible, Sendable {
    case passed
    case failed(String)
    case tookTooLong
    case crashed(signal: Int32)

    package var description: String {
      switch self {
      case .passed: "passed"
      case .failed(let line): "failed: \(line)"
      case .tookTooLong: "took too long"
      case .crashed(let signal): "crashed with signal \(signal)"
      }
    }
  }

  /// Runs a class or a test until its first failure.
  private func run(_ name: String, _ setting: MutantSwitch.Setting) throws -> Ending {
    let process = process([name])
    process.environment?[MutantSwitch.Setting.variable] = setting.value
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    var text = ""
    while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
      text += String(decoding: data, as: UTF8.self)
      guard let match = text.firstMatch(of: #/: error: ([^\n]*)\n/#) else {
        text =
          text.split(separator: "\n", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        continue
      }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      return .failed(String(match.1))
    }
    process.waitUntilExit()
    let status = process.terminationStatus
    if process.terminationReason == .uncaughtSignal { return .crashed(signal: status) }
    return switch status {
    case 0: .passed
    case MutantSwitch.Setting.tooLong: .tookTooLong
    default: .failed("exit status \(status)")
    }
  }

  private func process(_ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    // A mutant may write where the app of a user would, and leave what its test would remove.
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("XDG_") }
    environment["HOME"] = scratch.path
    environment["TMPDIR"] = scratch.path
    // A crash is expected, and nobody reads where it was.
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    return process
  }
}

/// Why there is no result.
package struct Failure: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}
