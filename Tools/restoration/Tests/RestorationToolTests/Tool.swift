import Foundation
import XCTest

/// What a run of the built tool wrote, and how it ended.
struct ToolRun {
  let status: Int32
  let output: String
  let errors: String

  var lines: [String] { output.split(separator: "\n").map { String($0) } }

  /// The lines without the first one, which names the columns.
  var rows: [String] { Array(lines.dropFirst()) }

  /// The output as JSON.
  func json() throws -> Any {
    try JSONSerialization.jsonObject(with: Data(output.utf8), options: .fragmentsAllowed)
  }

  /// The output as a JSON object.
  func object() throws -> [String: Any] { try XCTUnwrap(try json() as? [String: Any]) }
}

/// The built tool, beside the test bundle, where a build puts all its products.
enum Tool {
  static var executable: URL {
    #if os(macOS)
    Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      .deletingLastPathComponent().appending(path: "restoration") ?? Bundle.main.bundleURL
    #else
    Bundle.main.bundleURL.appending(path: "restoration")
    #endif
  }

  /// Runs the tool to its end.
  ///
  /// - Parameters:
  ///   - arguments: What follows its name.
  ///   - sandbox: Where it finds states and keys, and leaves what it writes.
  ///   - input: What it reads from its standard input.
  ///   - files: What it can read from the descriptors 3 and so on.
  ///   - redirections: What a shell does with its descriptors, after the above.
  ///   - readsOutput: False for an output that nobody reads.
  /// - Returns: What it wrote.
  /// - Throws: What starting it throws.
  static func run(
    _ arguments: [String], in sandbox: Sandbox, input: Data = Data(), files: [Data] = [],
    redirections: String = "", readsOutput: Bool = true
  ) throws -> ToolRun {
    let process = Process()
    let output = sandbox.newFile()
    let errors = sandbox.newFile()
    let source = sandbox.newFile()
    try Data().write(to: output)
    try Data().write(to: errors)
    try input.write(to: source)
    process.executableURL = URL(filePath: "/bin/sh")
    let given = try files.enumerated().map { number, content in
      let file = sandbox.newFile()
      try content.write(to: file)
      return "\(number + 3)<'\(file.path)'"
    }
    process.arguments =
      [
        "-c", "exec \"$0\" \"$@\" \((given + [redirections]).joined(separator: " "))",
        executable.path,
      ] + arguments
    process.environment = sandbox.environment
    process.standardInput = try FileHandle(forReadingFrom: source)
    process.standardError = try FileHandle(forWritingTo: errors)
    let pipe = Pipe()
    if readsOutput {
      process.standardOutput = try FileHandle(forWritingTo: output)
    } else {
      try pipe.fileHandleForReading.close()
      process.standardOutput = pipe
    }
    try process.run()
    process.waitUntilExit()
    return ToolRun(
      status: process.terminationReason == .exit ? process.terminationStatus : -1,
      output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }
}

#if os(Linux)
extension Tool {
  /// TIOCSPTLCK and TIOCGPTN, which Swift does not import.
  private static let (unlockTerminal, terminalNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))

  /// Runs the tool on a terminal, and types at its first question.
  ///
  /// - Returns: All that the terminal showed, as the output.
  static func run(
    _ arguments: [String], in sandbox: Sandbox, typing text: String
  ) throws -> ToolRun {
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (isLocked, number) = (Int32(0), Int32(0))
    guard terminal >= 0, ioctl(terminal, unlockTerminal, &isLocked) == 0,
      ioctl(terminal, terminalNumber, &number) == 0
    else { throw CocoaError(.fileReadUnknown) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setsid")
    // What the leader of a session opens first is its terminal.
    process.arguments =
      [
        "-w", "/bin/sh", "-c", "exec \"$0\" \"$@\" <>/dev/pts/\(number) >&0 2>&0",
        executable.path,
      ] + arguments
    process.environment = sandbox.environment
    try process.run()
    var shown: [UInt8] = []
    var isAsked = false
    var event = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    var buffer = Array(repeating: UInt8(0), count: 1 << 12)
    while poll(&event, 1, 10_000) > 0 {
      let count = read(terminal, &buffer, buffer.count)
      guard count > 0 else { break }
      shown += buffer[..<count]
      if !isAsked, shown.ends(with: Array("phrase: ".utf8)) {
        isAsked = true
        _ = write(terminal, text, text.utf8.count)
      }
    }
    // It hangs up on a tool that still waits.
    close(terminal)
    process.waitUntilExit()
    return ToolRun(
      status: process.terminationReason == .exit ? process.terminationStatus : -1,
      output: String(decoding: shown, as: UTF8.self), errors: "")
  }
}

extension [UInt8] {
  fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
#endif

/// The directories of an app, which are removed with it.
final class Sandbox {
  static let application = "org.example.notes"

  let url: URL
  private var count = 0

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// What sends a process to these directories; no terminal, and no colours.
  var environment: [String: String] {
    [
      "HOME": url.path, "XDG_STATE_HOME": url.appending(path: "state").path,
      "XDG_DATA_HOME": url.appending(path: "data").path, "PATH": "/usr/bin:/bin",
    ]
  }

  var states: String { url.appending(path: "state/\(Self.application)").path }

  var keyFile: String {
    url.appending(path: "data/restoration-keys/\(Self.application).key").path
  }

  var stateFile: String { "\(states)/main.rka" }

  func newFile() -> URL {
    count += 1
    return url.appending(path: "file-\(count)")
  }

  /// The names and contents of all files of the app, those of the history too.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: states)
    where !name.hasSuffix(".history") {
      files[name] = try Data(contentsOf: URL(filePath: "\(states)/\(name)"))
    }
    return files
  }

  /// The path of the history of a state.
  func history(_ state: String = "main") -> String { "\(states)/\(state).history" }

  /// Gives each older state a file of its own, as where a file has no second name.
  func separateHistory() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: history()) {
      let (url, count) = (URL(filePath: "\(history())/\(name)"), name.split(separator: "-").last)
      let bytes = try Data(contentsOf: url).prefix(count.flatMap { Int($0) } ?? 0)
      try FileManager.default.removeItem(at: url)
      try bytes.write(to: url)
    }
  }
}
