#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Processes that signals end while something is unsaved.
final class AutosaveSignalTests: XCTestCase {
  /// How the other process differs from one that takes all signals.
  private enum Variant: String, CaseIterable {
    /// Its writes never end.
    case hangs
    /// It has a handler of its own for SIGTERM.
    case handles
    /// It sets that handler again whenever it is called.
    case handlesAgain
    /// Its handler is for one signal, and the next one ends it.
    case handlesOnce
    /// It takes SIGHUP alone, and handles SIGTERM itself.
    case takesHangup
    /// One autosave takes SIGHUP, and another SIGTERM.
    case takesEachByItself
    /// It has stopped the autosave, and begun another one that takes no signal.
    case stops
    /// It has stopped it and begun one that takes all signals.
    case begins

    var environment: [String: String] { ["AUTOSAVE_\(rawValue)": "1"] }
  }

  /// A keeper whose writes never end once it hangs.
  @MainActor
  private static func keeper(
    _ app: AppUnderTest, hangs: @escaping @Sendable () -> Bool
  ) throws -> StateKeeper {
    let directory = HookedStore(app.directory) { _, call throws(ArchiveError) in
      guard call.isWrite, hangs() else { return }
      app.say("hanging")
      let gate = Gate()
      gate.holdUp()
      gate.pass()
    }
    return try StateKeeper(
      application: Launch.application, directory: directory, keys: app.keys)
  }

  /// The other process: has a change that would be saved in an hour, says so, and goes on.
  @MainActor
  func testTheProcessThatIsEnded() async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let environment = ProcessInfo.processInfo.environment
    let variant = Variant.allCases.first { environment["AUTOSAVE_\($0.rawValue)"] != nil }
    // A shell lets what it starts in the background ignore some.
    for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    if variant == nil { signal(SIGHUP, SIG_IGN) }
    Self.setHandler(variant)
    let isSaved = Flag()
    let keeper = try Self.keeper(app) { variant == .hangs && isSaved.isSet }
    let node = TrackedNode("root")
    _ = try await keeper.restore(into: [node])
    var autosave = keeper.autosave(every: .seconds(3600)) {
      [node]
    } told: { _ in
      isSaved.isSet = true
    }
    // In a second process of one test there is nothing to write, so no save is told.
    try await waitUntil("the first save has ended") { !autosave.needsSave }
    switch variant {
    case .takesHangup: autosave.flushOnSignals([SIGHUP], within: .seconds(3600))
    default: autosave.flushOnSignals(within: .seconds(3600))
    }
    var others: [(StateKeeper, Autosave)] = []
    switch variant {
    case .takesEachByItself:
      autosave.flushOnSignals([SIGHUP], within: .seconds(3600))
      let other = try StateKeeper(
        application: Launch.application, name: "other", directory: app.directory, keys: app.keys)
      let otherNode = TrackedNode("root")
      _ = try await other.restore(into: [otherNode])
      let otherSave = other.autosave(every: .seconds(3600)) { [otherNode] }
      try await waitUntil("the other first save has ended") { !otherSave.needsSave }
      otherSave.flushOnSignals([SIGTERM], within: .seconds(3600))
      otherNode.value = "last"
      others.append((other, otherSave))
    case .stops: autosave.stop()
    case .begins:
      autosave.stop()
      autosave = keeper.autosave(every: .seconds(3600)) { [node] }
      autosave.flushOnSignals(within: .seconds(3600))
      try await waitUntil("the next first save has ended") { !autosave.needsSave }
    default: break
    }
    let held = Self.handler
    node.value = "last"
    // Whoever started it with “nohup” wants that.
    if variant == nil { kill(getpid(), SIGHUP) }
    app.say("ready")
    let (lines, input) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { input.yield(line) }
    }
    for await line in lines {
      try await waitUntil("the signal is held again") { Self.handler == held }
      node.value = line
      app.say("changed")
    }
    withExtendedLifetime((keeper, autosave, others)) {}
  }

  /// What is done for SIGTERM.
  private static var handler: Int {
    var action = sigaction()
    sigaction(SIGTERM, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
  }

  /// Sets the handler that the app has; in a handler nothing may be allocated.
  private static func setHandler(_ variant: Variant?) {
    switch variant {
    case .handles, .takesHangup, .stops:
      signal(SIGTERM) { _ in _ = write(STDERR_FILENO, "app under test: handled\n", 24) }
    case .handlesAgain: signal(SIGTERM, handlerThatSetsItselfAgain)
    case .handlesOnce:
      signal(SIGTERM) { _ in
        _ = write(STDERR_FILENO, "app under test: handled\n", 24)
        signal(SIGTERM, SIG_DFL)
      }
    default: break
    }
  }

  /// Starts the other process, and waits until it is ready.
  private func process(
    in directory: borrowing TemporaryDirectory, _ variant: Variant? = nil
  ) throws -> AppProcess {
    let process = try AppProcess.again(
      ["RestorationTreeTests.AutosaveSignalTests/testTheProcessThatIsEnded"],
      environment: variant?.environment ?? [:], folder: directory.path)
    XCTAssertEqual(try process.answer(), "ready")
    return process
  }

  @MainActor
  private func assertStored(
    _ value: String, of name: String = "main", in directory: borrowing TemporaryDirectory,
    line: UInt = #line
  ) async throws {
    let node = TrackedNode("root")
    let keeper = try StateKeeper(
      application: Launch.application, name: name,
      directory: FileStateDirectory(path: "\(directory.path)/states"),
      keys: KeyFile(path: "\(directory.path)/app.key"))
    _ = try await keeper.restore(into: [node])
    await keeper.close()
    XCTAssertEqual(node.value, value, line: line)
  }

  @MainActor
  func testASignalSavesTheLastChangeAndEndsTheProcess() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory)
    try process.send(signal: SIGTERM)
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGTERM))
    try await assertStored("last", in: directory)
  }

  @MainActor
  func testTheSameSignalEndsTheProcessAfterASecondAndAnotherOneDoesNot() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, .hangs)
    let start = ContinuousClock.now
    try process.send(signal: SIGTERM)
    XCTAssertEqual(try process.answer(), "hanging")
    try process.send(signal: SIGHUP)
    let sent = process.identifier
    // The limit of the flush is an hour.
    Thread.detachNewThread {
      while kill(sent, SIGTERM) == 0, start.duration(to: .now) < .seconds(60) { usleep(50_000) }
    }
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGTERM))
    XCTAssertGreaterThanOrEqual(start.duration(to: .now), .seconds(1))
    try await assertStored("", in: directory)
  }

  /// Sends the signal, and waits for the handler of the app.
  private func assertHandles(
    _ process: AppProcess, _ signal: Int32 = SIGTERM, line: UInt = #line
  ) throws {
    try process.send(signal: signal)
    XCTAssertEqual(try process.answer(), "handled", line: line)
  }

  @MainActor
  func testTheHandlerThatWasThereBeforeIsCalledAfterEachSave() async throws {
    for variant in [Variant.handles, .handlesAgain] {
      let directory = try TemporaryDirectory()
      let process = try process(in: directory, variant)
      try assertHandles(process)
      for value in ["1", "2"] {
        XCTAssertEqual(try process.ask(value), "changed")
        try assertHandles(process)
      }
      process.kill()
      try await assertStored("2", in: directory)
    }
  }

  @MainActor
  func testAHandlerThatSaysWhatTheNextSignalDoesIsHeard() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, .handlesOnce)
    try assertHandles(process)
    XCTAssertEqual(try process.ask("1"), "changed")
    try process.send(signal: SIGTERM)
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGTERM))
    try await assertStored("1", in: directory)
  }

  @MainActor
  func testASignalThatTheAutosaveLeavesIsTheApps() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, .takesHangup)
    try assertHandles(process)
    try assertHandles(process)
    process.kill()
    try await assertStored("", in: directory)
    let other = try self.process(in: directory, .takesHangup)
    try other.send(signal: SIGHUP)
    XCTAssertEqual(other.waitUntilExit(), .killed(signal: SIGHUP))
    try await assertStored("last", in: directory)
  }

  @MainActor
  func testASignalFlushesTheAutosavesThatAskedForIt() async throws {
    let saved = [SIGHUP: ["last", ""], SIGTERM: ["", "last"], SIGINT: ["", ""]]
    for (signal, values) in saved {
      let directory = try TemporaryDirectory()
      let process = try process(in: directory, .takesEachByItself)
      try process.send(signal: signal)
      XCTAssertEqual(process.waitUntilExit(), .killed(signal: signal))
      try await assertStored(values[0], in: directory)
      try await assertStored(values[1], of: "other", in: directory)
    }
  }

  @MainActor
  func testAStopPutsEverythingBack() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, .stops)
    try assertHandles(process)
    try assertHandles(process)
    try process.send(signal: SIGINT)
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGINT))
    try await assertStored("", in: directory)
  }

  @MainActor
  func testAnAutosaveAfterOneThatWasStoppedTakesSignals() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, .begins)
    try process.send(signal: SIGTERM)
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGTERM))
    try await assertStored("last", in: directory)
  }
}

/// As handlers did when the system forgot them with each signal.
private func handlerThatSetsItselfAgain(_ number: Int32) {
  signal(number, handlerThatSetsItselfAgain)
  _ = write(STDERR_FILENO, "app under test: handled\n", 24)
}
#endif
