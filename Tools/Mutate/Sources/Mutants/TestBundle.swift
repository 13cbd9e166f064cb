internal import Foundation
internal import Mutants

/// The built tests, of which each class runs in a process of its own.
struct TestBundle {
  private let program: URL
  /// For what tests write and leave behind when they are killed.
  private let scratch: URL

  init(_ program: URL, scratch: URL) throws {
    self.program = program
    self.scratch = scratch
    try? FileManager.default.removeItem(at: scratch)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
  }

  /// The classes that may reach mutants in these modules.
  ///
  /// The tests of ArchiveCodec are linked with RestorationKit, but they do not run it.
  func classes(thatTest modules: Set<String>) throws -> [String] {
    let process = process(["--list-tests"])
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(
      decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let classes = output.split(separator: "\n").compactMap { line in
      line.firstMatch(of: #/^(\w+\.\w+)/\w+$/#).map { String($0.1) }
    }
    return Set(classes).sorted().filter {
      modules != ["RestorationKit"] || $0.hasPrefix("RestorationKitTests.")
    }
  }

  // MARK: - Tracing

  struct Trace {
    let testClass: String
    let seconds: Double
    let reached: Set<Int>
  }

  /// Runs a class without mutants.
  ///
  /// - Throws: If a test fails.
  func trace(_ testClass: String) throws -> Trace {
    let file = scratch.appending(path: "\(testClass).trace")
    try Data().write(to: file)
    let start = ContinuousClock.now
    let ending = try run(testClass, .tracing(file: file.path))
    guard case .passed = ending else {
      throw Failure(description: "\(testClass) fails without any mutant: \(ending)")
    }
    let reached = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return Trace(
      testClass: testClass, seconds: (ContinuousClock.now - start) / .seconds(1),
      reached: Set(reached.compactMap { Int($0) }))
  }

  // MARK: - Trying

  enum Verdict: CustomStringConvertible {
    case killed(by: String, Ending)
    case survived(classes: Int)

    var isKilled: Bool {
      if case .killed = self { true } else { false }
    }

    var description: String {
      switch self {
      case .killed(let name, let ending): "killed by \(name), which \(ending)"
      case .survived(classes: 0): "survived: no test reaches it"
      case .survived(classes: 1): "survived: one test class reaches it"
      case .survived(let count): "survived: \(count) test classes reach it"
      }
    }
  }

  /// Runs the classes that reach a mutant, in the order of their traces, until one notices it.
  func verdict(on number: Int, _ traces: [Trace]) throws -> Verdict {
    let related = traces.filter { $0.reached.contains(number) }
    for trace in related {
      // Ample, because other programs want the cores, too.
      let seconds = Int(5 * trace.seconds) + 10
      let ending = try run(trace.testClass, .on(number, seconds: seconds))
      if case .passed = ending { continue }
      return .killed(by: trace.testClass, ending)
    }
    return .survived(classes: related.count)
  }

  // MARK: - Running

  enum Ending: CustomStringConvertible {
    case passed
    case failed(String)
    case tookTooLong
    case crashed(signal: Int32)

    var description: String {
      switch self {
      case .passed: "passed"
      case .failed(let line): "failed: \(line)"
      case .tookTooLong: "took too long"
      case .crashed(let signal): "crashed with signal \(signal)"
      }
    }
  }

  /// Runs a class until its first failure.
  private func run(_ testClass: String, _ setting: MutantSwitch.Setting) throws -> Ending {
    let process = process([testClass])
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
