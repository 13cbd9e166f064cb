import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class GateTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()

  /// Saves and restores one node with a delegate; returns what came back of it.
  private func roundTrip(_ delegate: any StateDelegate) async throws -> String? {
    let saved = try await launch.keeper(delegate: delegate).save([TestNode("a", value: "saved")])
    XCTAssertEqual(saved.outcome, .saved)
    let node = TestNode("a")
    let restored = try await launch.keeper(delegate: delegate).restore(into: [node])
    XCTAssertEqual(restored.outcome, .restored)
    return node.value
  }

  func testADelegateWithoutGatesSavesAndRestores() async throws {
    @MainActor
    final class Delegate: @MainActor StateDelegate {}
    let value = try await roundTrip(Delegate())
    XCTAssertEqual(value, "saved")
  }

  func testADelegateWithTheSaveGateAloneSavesAndRestores() async throws {
    @MainActor
    final class Delegate: @MainActor StateDelegate {
      var asked = 0
      func shouldSaveApplicationState(with coder: StateEncoder) -> Bool {
        asked += 1
        return true
      }
    }
    let delegate = Delegate()
    let value = try await roundTrip(delegate)
    XCTAssertEqual(value, "saved")
    XCTAssertEqual(delegate.asked, 1)
  }

  func testADelegateWithTheRestoreGateAloneSavesAndRestores() async throws {
    @MainActor
    final class Delegate: @MainActor StateDelegate {
      var asked = 0
      func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool {
        asked += 1
        return true
      }
    }
    let delegate = Delegate()
    let value = try await roundTrip(delegate)
    XCTAssertEqual(value, "saved")
    XCTAssertEqual(delegate.asked, 1)
  }

  func testAKeeperWithoutDelegateSaves() async throws {
    let report = try await launch.keeper().save([TestNode("a")])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])
  }

  func testADelegateThatIsGoneDoesNotOpenTheGates() async throws {
    let keeper = try launch.keeper()
    do {
      let delegate = TestDelegate()
      delegate.saves = false
      keeper.delegate = delegate
      _ = delegate
    }
    let gone = try await keeper.save([TestNode("a")])
    XCTAssertEqual(gone.outcome, .delegateGone)
    XCTAssertEqual(
      gone.description,
      "Nothing saved: the delegate is gone. Keep it alive, or set it to nil to go on"
        + " without one.")
    let restored = try await keeper.restore()
    XCTAssertEqual(restored.outcome, .delegateGone)
    XCTAssertEqual(
      restored.description,
      "Nothing restored: the delegate is gone. Keep it alive, or set it to nil to go on"
        + " without one.")
    keeper.delegate = nil
    let without = try await keeper.save([TestNode("a")])
    XCTAssertEqual(without.outcome, .saved)
  }

  func testASaveGateThatSaysNoStopsEverything() async throws {
    let delegate = TestDelegate(trace)
    delegate.saves = false
    let report = try await launch.keeper(delegate: delegate).save([TestNode("a", trace: trace)])
    XCTAssertEqual(report.outcome, .declined)
    XCTAssertEqual(trace.events, ["shouldSave"])
    XCTAssertNil(launch.storedBytes)
    XCTAssertNil(try launch.keys.key(creating: false), "Nothing needs a key.")
  }

  func testASaveGateThatSaysNoDiscardsTheOlderState() async throws {
    let delegate = TestDelegate()
    let keeper = try launch.keeper(delegate: delegate)
    _ = try await keeper.save([TestNode("a")])
    XCTAssertNotNil(launch.storedBytes)
    delegate.saves = false
    _ = try await keeper.save([TestNode("a")])
    try launch.assertNothingIsStored()
    let next = TestDelegate(trace)
    let report = try await launch.keeper(delegate: next).restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome, .noArchive)
    XCTAssertEqual(trace.events, [])
  }

  func testARestoreGateThatSaysNoCallsNothingElse() async throws {
    let root = TestNode("a", trace: trace)
    root.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([root])
    trace.clear()

    let delegate = TestDelegate(trace)
    delegate.restores = false
    TestFactory.make = { [trace] _, _ in
      trace.add("factory")
      return nil
    }
    let report = try await launch.keeper(delegate: delegate).restore(into: [root])
    trace.add("didFinishLaunching")
    XCTAssertEqual(report.outcome, .declined)
    XCTAssertEqual(trace.events, ["shouldRestore", "didFinishLaunching"])
  }

  func testTheRestoreGateIsNotCalledWithoutArchive() async throws {
    let delegate = TestDelegate(trace)
    let report = try await launch.keeper(delegate: delegate).restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome, .noArchive)
    XCTAssertEqual(trace.events, [])
  }

  func testTheRestoreGateReadsWhatTheSaveGateWrote() async throws {
    let delegate = TestDelegate()
    delegate.onShouldSave = { $0.encode(11, forKey: "version") }
    _ = try await launch.keeper(delegate: delegate).save([])

    var version: Int?
    delegate.onShouldRestore = { version = try? $0.decode(forKey: "version") }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(version, 11)
  }

  func testWhatWillEncodeWritesIsReadByTheRestoreGateAndByDidDecode() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode("v", forKey: "k") }
    _ = try await launch.keeper(delegate: delegate).save([])

    var read: [String] = []
    delegate.onShouldRestore = { read.append("gate \((try? $0.decode(forKey: "k")) ?? "-")") }
    delegate.onDidDecode = { read.append("didDecode \(try $0.decode(String.self, forKey: "k"))") }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(read, ["gate v", "didDecode v"])
  }

  func testEveryCoderHasTheFactsOfTheSave() async throws {
    // A node with a view, one that its class makes, and an object.
    let (saved, object) = (TestNode("a"), TestObject())
    saved.restorationViews = [TestView("v")]
    saved.onEncode = { $0.encode(object, forKey: "object") }
    let made = TestNode("made")
    made.restorationClass = TestFactory.self
    let saving = try launch.keeper()
    saving.registerObject(object, restorationIdentifier: "object")
    _ = try await saving.save([saved, made])

    var facts: [[String?]] = []
    func read(_ coder: StateDecoder) {
      facts.append([
        coder.applicationVersion, coder.userInterfaceIdiom, coder.systemVersion,
        "\(coder.timestamp == launch.now)",
      ])
    }
    let root = TestNode("a")
    root.onDecode = read
    let view = TestView("v")
    view.onDecode = read
    root.restorationViews = [view]
    TestFactory.make = { path, coder in
      read(coder)
      return TestNode(path.identifier)
    }
    let delegate = TestDelegate()
    delegate.onShouldRestore = read
    delegate.onNode = { _, coder in
      read(coder)
      return root
    }
    delegate.onDidDecode = read
    let restoring = try launch.keeper(delegate: delegate)
    object.onDecode = read
    restoring.registerObject(object, restorationIdentifier: "object")
    let report = try await restoring.restore()
    XCTAssertEqual(facts, Array(repeating: ["11", "test", "6.1", "true"], count: 7), "\(report)")
  }

  func testTheTimestampIsTheSameInstantInEveryTimeZone() async throws {
    let zone = ProcessInfo.processInfo.environment["TZ"]
    defer {
      if let zone { setenv("TZ", zone, 1) } else { unsetenv("TZ") }
      tzset()
    }
    setenv("TZ", "Pacific/Kiritimati", 1)
    tzset()
    _ = try await launch.keeper().save([])
    setenv("TZ", "Pacific/Pago_Pago", 1)
    tzset()

    let delegate = TestDelegate()
    var timestamp: Date?
    delegate.onShouldRestore = { timestamp = $0.timestamp }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(timestamp, launch.now)
  }

  func testTheSystemVersionIsAskedForIfItIsNotGiven() {
    let version = ApplicationEnvironment().systemVersion
    XCTAssertFalse(version.isEmpty)
    let environments: Set = [
      ApplicationEnvironment(), ApplicationEnvironment(systemVersion: version),
      ApplicationEnvironment(systemVersion: "\(version)!"),
    ]
    XCTAssertEqual(environments.count, 2)
  }

  func testWhatIsTooLargeForTheApplicationCostsThatAlone() async throws {
    let large = String(repeating: "x", count: 1 << 24)
    let delegate = TestDelegate()
    delegate.onShouldSave = { $0.encode(large, forKey: "large") }
    delegate.onWillEncode = { $0.encode(1, forKey: String(repeating: "k", count: 2000)) }
    let report = try await launch.keeper(delegate: delegate).save([TestNode("a")])
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])
    XCTAssertEqual(report.notes.count, 2)
  }

  func testAKeyThatLooksLikeAFactIsAnOrdinaryKeyAndTheFactStays() async throws {
    let keys = ["applicationVersion", "userInterfaceIdiom", "systemVersion", "timestamp"]
      .map { "RestorationKit.\($0)" }
    let delegate = TestDelegate()
    delegate.onWillEncode = { coder in
      for key in keys { coder.encode("mine", forKey: key) }
    }
    let root = TestNode("a", value: "own")
    root.onEncode = { coder in
      for key in keys { coder.encode("mine", forKey: key) }
    }
    let report = try await launch.keeper(delegate: delegate).save([root])
    XCTAssertEqual(report.notes, [])
    XCTAssertEqual(
      try launch.storedRecords()?["a"]?.state?.keys.sorted(), keys.sorted() + ["value"])

    var read: [[String?]] = []
    func note(_ coder: StateDecoder) throws {
      for key in keys { read.append([try coder.decodeIfPresent(forKey: key)]) }
      read.append([coder.applicationVersion, coder.userInterfaceIdiom, coder.systemVersion])
      XCTAssertEqual(coder.timestamp, launch.now)
    }
    delegate.onDidDecode = note
    let restored = TestNode("a")
    restored.onDecode = note
    let restoration = try await launch.keeper(delegate: delegate).restore(into: [restored])
    let mine = Array(repeating: ["mine"], count: 4) + [["11", "test", "6.1"]]
    XCTAssertEqual(read, mine + mine)
    XCTAssertEqual(restoration.problems, [])
  }

  func testTheApplicationAndANodeUseTheSameKeyApart() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode("application", forKey: "x") }
    let root = TestNode("a")
    root.onEncode = { $0.encode("node", forKey: "x") }
    _ = try await launch.keeper(delegate: delegate).save([root])

    var read: [String] = []
    let restored = TestNode("a")
    restored.onDecode = { read.append(try $0.decode(forKey: "x")) }
    delegate.onDidDecode = { read.append(try $0.decode(forKey: "x")) }
    _ = try await launch.keeper(delegate: delegate).restore(into: [restored])
    XCTAssertEqual(read, ["node", "application"])
  }

  func testWhatWillEncodeWroteIsDroppedWhenItThrowsAndTheRestIsSaved() async throws {
    struct Failure: Error {}
    let delegate = TestDelegate()
    delegate.onShouldSave = { $0.encode(11, forKey: "version") }
    delegate.onWillEncode = {
      $0.encode("half", forKey: "k")
      throw Failure()
    }
    let report = try await launch.keeper(delegate: delegate).save([TestNode("a")])
    XCTAssertEqual(report.notes, [.applicationNotEncoded("Failure")])
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])

    var keys: [String] = []
    delegate.onShouldRestore = { keys = $0.keys }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(keys, ["version"])
  }
}
