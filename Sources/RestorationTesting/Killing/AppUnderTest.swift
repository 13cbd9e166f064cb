internal import ArchiveCodec
public import RestorationKit

internal import RestorationLibc
internal import RestorationFoundation
internal import Synchronization

/// The app in a process that a test has started, as the app sees it.
///
///     @MainActor func testTheApp() async throws {
///       guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
///       let keeper = try StateKeeper(
///         application: "org.example.notes", directory: app.directory, keys: app.keys)
///       let screen = NoteScreen()
///       _ = try await keeper.restore(into: [screen])
///       app.say("restored \(screen.draft)")
///       for number in 1...100 {
///         screen.draft = "\(number)"
///         _ = try await keeper.save([screen])
///         app.acknowledgeSave("saved \(number)")
///       }
///     }
public final class AppUnderTest: Sendable {
  /// The app in this process; nil if no test has started the process with a folder.
  public static let current = AppUnderTest(ProcessInfo.processInfo.environment)

  /// The path of the folder that the test has named.
  public let folder: String

  /// The states of the app, in files; the process is killed in the midst of a write to
  /// them if the test has named that moment.
  public let directory: any StateDirectory

  /// The key of the app, in a file.
  public let keys: any KeyProvider

  private let moment: KillMoment?
  private let saveCount = Mutex(0)

  init?(_ environment: [String: String]) {
    guard let folder = environment[AppVariable.folder] else { return nil }
    self.folder = folder
    moment = environment[AppVariable.moment].flatMap { KillMoment($0) }
    directory = KillingDirectory(
      FileStateDirectory(path: Self.states(in: folder)), at: moment, kill: Self.kill)
    keys = KeyFile(path: Self.key(in: folder))
  }

  static func states(in folder: String) -> String { "\(folder)/states" }

  static func key(in folder: String) -> String { "\(folder)/app.key" }

  /// Wraps a directory of the app's own, so that the process is killed in a write to it
  /// as in a write to ``directory``.
  ///
  /// - Parameter base: The directory of the states.
  /// - Returns: The directory for a keeper. It counts its own writes, from 1.
  public func killing(_ base: any StateDirectory) -> any StateDirectory {
    KillingDirectory(base, at: moment, kill: Self.kill)
  }

  /// Answers with a line.
  ///
  /// - Parameter line: The line that ``AppProcess/answer()`` gives to the test.
  public func say(_ line: String) { Self.say(line) }

  /// Answers with a line, also in a process that has no folder.
  ///
  /// - Parameter line: The line that ``AppProcess/answer()`` gives to the test.
  public static func say(_ line: String) {
    var rest = Array("\(AppVariable.answerPrefix)\(line)\n".utf8)[...]
    // Written in one piece as far as the system takes it, so that no other thread
    // writes into the line.
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count)
      }
      if count > 0 { rest = rest.dropFirst(count) }
      if count < 0, errno != EINTR { return }
    }
  }

  /// Answers that a save has returned, and kills the process if the test has named this moment.
  ///
  /// - Parameter line: The line that ``AppProcess/answer()`` gives to the test.
  public func acknowledgeSave(_ line: String = "saved") {
    say(line)
    let count = saveCount.withLock { count in
      count += 1
      return count
    }
    if moment == .afterSave(count) { Self.kill() }
  }

  @Sendable private static func kill() {
    #if canImport(Glibc)
    _ = Glibc.kill(getpid(), SIGKILL)
    #elseif canImport(Musl)
    _ = Musl.kill(getpid(), SIGKILL)
    #elseif canImport(Android)
    _ = Android.kill(getpid(), SIGKILL)
    #elseif canImport(Darwin)
    _ = Darwin.kill(getpid(), SIGKILL)
    #endif
    // The thread must not go on, even if the signal finds another thread first.
    while true { pause() }
  }
}

extension RestorationTester {
  /// Creates a tester that finds the states that an app has left in its folder.
  ///
  /// - Parameters:
  ///   - application: The identifier of the app.
  ///   - folder: The folder of ``AppUnderTest``.
  public convenience init(application: String, leftIn folder: String) {
    self.init(
      application: application,
      directory: FileStateDirectory(path: AppUnderTest.states(in: folder)),
      keys: KeyFile(path: AppUnderTest.key(in: folder)))
  }
}
