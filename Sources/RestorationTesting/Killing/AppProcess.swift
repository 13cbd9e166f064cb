#if os(Linux) || os(macOS)
internal import Foundation

/// An app in a process of its own that a test talks to line by line, and kills.
///
/// A test starts its own executable again, with arguments that run another test. In the
/// other test ``AppUnderTest/current`` is the app:
///
///     let app = try AppProcess.again(
///       ["AppTests.KillTests/testTheApp"], folder: folder, killedAt: .inWrite(3))
///     let answers = try app.answersUntilKilled()
///
/// The process is a new one and no fork of this one, since a fork of a process with
/// several threads hangs.
public final class AppProcess {
  /// How a process has ended.
  public enum Ending: Hashable, Sendable {
    /// The process has ended by itself, with a status.
    case exited(status: Int32)
    /// A signal has ended the process.
    case killed(signal: Int32)
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  /// The prefix of each answer; nil if all lines are answers.
  private let prefix: String?
  /// The last lines that were no answers.
  private var others: [String] = []

  /// Starts an executable; each line on its standard output is an answer.
  ///
  /// - Parameters:
  ///   - path: The path of the executable.
  ///   - arguments: The arguments of the executable.
  ///   - environment: Added to the environment of this process.
  ///   - folder: The folder of ``AppUnderTest``, if the app uses that.
  ///   - moment: When the process is killed, if the app uses ``AppUnderTest``.
  /// - Throws: ``RestorationTestFailure`` with `process` if the process cannot be
  ///   started.
  public convenience init(
    executable path: String, arguments: [String] = [], environment: [String: String] = [:],
    folder: String? = nil, killedAt moment: KillMoment? = nil
  ) throws(RestorationTestFailure) {
    try self.init(path, arguments, environment, folder, moment, prefix: nil)
  }

  private init(
    _ path: String, _ arguments: [String], _ environment: [String: String], _ folder: String?,
    _ moment: KillMoment?, prefix: String?
  ) throws(RestorationTestFailure) {
    self.prefix = prefix
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    var variables = ProcessInfo.processInfo.environment
    variables[AppVariable.folder] = folder
    variables[AppVariable.moment] = moment?.text
    process.environment = variables.merging(environment) { $1 }
    process.standardInput = input
    if prefix == nil {
      process.standardOutput = output
    } else {
      process.standardOutput = FileHandle.nullDevice
      process.standardError = output
    }
    Self.ignoreBrokenPipes
    do {
      try process.run()
    } catch {
      throw failure("The process is started.", "It threw an error: \(error)")
    }
  }

  /// Starts the executable of this test again.
  ///
  /// The app answers with ``AppUnderTest``. With XCTest on Linux the one argument
  /// `Module.Class/method` runs one test; with Swift Testing the arguments
  /// `--testing-library`, `swift-testing`, `--filter` and its name do.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the executable.
  ///   - environment: Added to the environment of this process.
  ///   - folder: The folder of the app's states and its key.
  ///   - moment: When the process is killed; never if nil.
  /// - Returns: The process.
  /// - Throws: ``RestorationTestFailure`` with `process` if the process cannot be
  ///   started.
  public static func again(
    _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
    killedAt moment: KillMoment? = nil
  ) throws(RestorationTestFailure) -> AppProcess {
    try AppProcess(
      ownExecutable, arguments, environment, folder, moment, prefix: AppVariable.answerPrefix)
  }

  deinit { endByForce() }

  private static var ownExecutable: String {
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return link ?? Bundle.main.executablePath ?? CommandLine.arguments[0]
  }

  /// Writing to a process that was killed gives an error instead of a signal.
  private static let ignoreBrokenPipes: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
  }()

  /// The number of the process.
  public var identifier: Int32 { process.processIdentifier }

  // MARK: Talking

  /// Sends a line to the standard input of the process.
  ///
  /// - Parameter line: The line, without its end.
  /// - Throws: ``RestorationTestFailure`` with `process` if the process has ended.
  public func send(_ line: String) throws(RestorationTestFailure) {
    do {
      try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    } catch {
      throw failure("It takes a line.", "It threw an error: \(error)\(lastLines)")
    }
  }

  /// Waits for the next answer of the process.
  ///
  /// - Returns: The answer; nil if the process has ended and said no more.
  /// - Throws: ``RestorationTestFailure`` with `process` if the output cannot be read.
  public func answer() throws(RestorationTestFailure) -> String? {
    while let line = try line() {
      guard let prefix else { return line }
      // Other output may stand before the answer in its line.
      guard let start = line.firstRange(of: prefix) else {
        note(line)
        continue
      }
      if start.lowerBound > line.startIndex { note(String(line[..<start.lowerBound])) }
      return String(line[start.upperBound...])
    }
    return nil
  }

  private func note(_ line: String) {
    others = (others + [line]).suffix(Self.otherCount)
  }

  private static let otherCount = 10

  private func line() throws(RestorationTestFailure) -> String? {
    var text: [UInt8] = []
    do {
      while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
        if byte == UInt8(ascii: "\n") { return String(decoding: text, as: UTF8.self) }
        text.append(byte)
      }
    } catch {
      throw failure("It can be read.", "It threw an error: \(error)")
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  /// Sends a line and waits for the next answer.
  ///
  /// - Parameter line: The line, without its end.
  /// - Returns: The answer.
  /// - Throws: ``RestorationTestFailure`` with `process` if there is none.
  public func ask(_ line: String) throws(RestorationTestFailure) -> String {
    try send(line)
    guard let answer = try answer() else {
      throw failure("It answers “\(line)”.", "It ended without an answer.\(lastLines)")
    }
    return answer
  }

  /// Waits until the process was killed at its moment.
  ///
  /// - Returns: All answers that were not read yet; the last one may be cut.
  /// - Throws: ``RestorationTestFailure`` with `process` if the process has ended
  ///   otherwise.
  public func answersUntilKilled() throws(RestorationTestFailure) -> [String] {
    let answers = try remainingAnswers()
    let ending = waitUntilExit()
    guard ending == .killed(signal: SIGKILL) else {
      throw failure(
        "It is killed at its moment.",
        "It ended otherwise, \(ending), after \(answers.count) answers."
          + "\(answers.isEmpty ? silence(ending) : "")\(lastLines)")
    }
    return answers
  }

  /// Waits until the process has ended or closed its output, so that no answer can follow.
  ///
  /// - Returns: All answers that were not read yet.
  /// - Throws: ``RestorationTestFailure`` with `process` if the output cannot be read.
  public func remainingAnswers() throws(RestorationTestFailure) -> [String] {
    var answers: [String] = []
    while let answer = try answer() { answers.append(answer) }
    return answers
  }

  // MARK: Ending

  /// Sends the process a signal, as `kill` in a shell does, and does not wait.
  ///
  /// - Parameter signal: The number of the signal, as `SIGTERM`.
  /// - Throws: ``RestorationTestFailure`` with `process` if the process has ended, or
  ///   if the system refuses the signal.
  public func send(signal: Int32) throws(RestorationTestFailure) {
    let expected = "It takes signal \(signal)."
    // The number of a process that has ended may be that of another process by now.
    guard process.isRunning else {
      throw failure(expected, "It had ended before, \(waitUntilExit()).\(lastLines)")
    }
    guard Foundation.kill(identifier, signal) == 0 else {
      throw failure(expected, "The system refused it with error \(errno).")
    }
  }

  /// Kills the process with SIGKILL at any moment, and waits for its end.
  ///
  /// Earlier answers can still be read.
  ///
  /// - Returns: How the process has ended: by itself if it did so before.
  @discardableResult
  public func kill() -> Ending {
    endByForce()
    return waitUntilExit()
  }

  private func endByForce() {
    guard process.isRunning else { return }
    _ = Foundation.kill(identifier, SIGKILL)
  }

  /// Waits until the process has ended.
  ///
  /// Its standard input stays open; ``end()`` closes it. A process that writes more
  /// than a pipe holds, 64 KB on Linux, does not end before its output is read.
  ///
  /// - Returns: How the process has ended.
  public func waitUntilExit() -> Ending {
    process.waitUntilExit()
    let status = process.terminationStatus
    return process.terminationReason == .exit ? .exited(status: status) : .killed(signal: status)
  }

  /// Closes the standard input of the process, and waits until the process has ended.
  ///
  /// - Throws: ``RestorationTestFailure`` with `process` if its status is not 0.
  public func end() throws(RestorationTestFailure) {
    do {
      try input.fileHandleForWriting.close()
    } catch {
      throw failure("Its input is closed.", "It threw an error: \(error)")
    }
    let ending = waitUntilExit()
    guard ending == .exited(status: 0) else {
      throw failure("It ends with status 0.", "It ended otherwise, \(ending).\(lastLines)")
    }
  }

  // MARK: Failures

  /// A hint that the test library may have run no test: the library says so on the
  /// standard output, which nobody reads.
  private func silence(_ ending: Ending) -> String {
    let statuses: [Ending] = [.exited(status: 0), .exited(status: Self.noTestStatus)]
    guard prefix != nil, statuses.contains(ending) else { return "" }
    return " Check its arguments: either no test has that name, or the test was skipped."
  }

  /// The status of Swift Testing if no test fits the filter: `EX_UNAVAILABLE`.
  private static let noTestStatus: Int32 = 69

  private var lastLines: String {
    others.isEmpty ? "" : " It said:\n" + others.joined(separator: "\n")
  }

  private func failure(_ expected: String, _ seen: String) -> RestorationTestFailure {
    let command = [process.executableURL?.path ?? ""] + (process.arguments ?? [])
    return RestorationTestFailure(
      .process, command.joined(separator: " "), expected: expected, seen: seen)
  }
}

@available(*, unavailable, message: "a process belongs to the test that talks to it")
extension AppProcess: Sendable {}
#endif
