import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class GateTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()

  func testADelegateWithoutGatesSavesNothingAndNoNodeIsEncoded() async throws {
    @MainActor
    final class Delegate: @MainActor StateDelegate {}
    let delegate = Delegate()
    let keeper = try launch.keeper(delegate: delegate)
    let report = try await keeper.save([TestNode("a", trace: trace)])
    XCTAssertEqual(
      report.outcome,
      .notOptedIn(
        "Delegate does not conform to StateSavingGate and StateRestoringGate."
          + " Conform it to StateKeeperDelegate, or set no delegate."))
    XCTAssertNil(launch.storedBytes)
    XCTAssertEqual(trace.events, [])
  }

  func testADelegateWithTheSaveGateAloneSavesNothing() async throws {
    @MainActor
    final class Delegate: @MainActor StateSavingGate {
      func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { true }
    }
    let delegate = Delegate()
    let keeper = try launch.keeper(delegate: delegate)
    let report = try await keeper.save([TestNode("a", trace: trace)])
    XCTAssertEqual(
      report.outcome,
      .notOptedIn(
        "Delegate does not conform to StateRestoringGate."
          + " Conform it to StateKeeperDelegate, or set no delegate."))
    XCTAssertNil(launch.storedBytes)
    XCTAssertEqual(trace.events, [])
  }

  func testAKeeperWithoutDelegateIsOptedIn() async throws {
    let report = try await launch.keeper().save([TestNode("a")])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])
  }

  func testADelegateWithTheSaveGateAloneRestoresNothing() async throws {
    @MainActor
    final class Delegate: @MainActor StateSavingGate {
      func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { true }
    }
    _ = try await launch.keeper().save([TestNode("a", value: "saved")])
    let delegate = Delegate()
    let node = TestNode("a")
    let report = try await launch.keeper(delegate: delegate).restore(into: [node])
    XCTAssertEqual(
      report.outcome,
      .notOptedIn(
        "Delegate does not conform to StateRestoringGate."
          + " Conform it to StateKeeperDelegate, or set no delegate."))
    XCTAssertNil(node.value)
  }

  func testADelegateWithTheRestoreGateAloneSavesAndRestoresNothing() async throws {
    @MainActor
    final class Delegate: @MainActor StateRestoringGate {
      func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool {
        XCTFail("It was asked.")
        return true
      }
    }
    _ = try await launch.keeper().save([TestNode("a", value: "saved")])
    let bytes = launch.storedBytes
    let reason =
      "Delegate does not conform to StateSavingGate."
      + " Conform it to StateKeeperDelegate, or set no delegate."
    let delegate = Delegate()
    let keeper = try launch.keeper(delegate: delegate)
    let node = TestNode("a", trace: trace)
    let restored = try await keeper.restore(into: [node])
    XCTAssertEqual(restored.outcome, .notOptedIn(reason))
    let saved = try await keeper.save([node])
    XCTAssertEqual(saved.outcome, .notOptedIn(reason))
    XCTAssertEqual(trace.events, [])
    XCTAssertEqual(launch.storedBytes, bytes)
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
    XCTAssertEqual(
      gone.outcome, .notOptedIn("The delegate is gone. Keep it alive, or set it to nil."))
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
    XCTAssertNil(launch.storedBytes)
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

  func testOnlyTheSecureGatesAreAskedWhereBothAreThere() async throws {
    @MainActor
    final class Delegate: @MainActor StateKeeperDelegate {
      var asked: [String] = []
      func shouldSaveApplicationState(with coder: StateEncoder) -> Bool {
        asked.append("save")
        return false
      }
      func shouldSaveSecureApplicationState(with coder: StateEncoder) -> Bool {
        asked.append("secure save")
        return true
      }
      func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool {
        asked.append("restore")
        return false
      }
      func shouldRestoreSecureApplicationState(with coder: StateDecoder) -> Bool {
        asked.append("secure restore")
        return true
      }
    }
    let delegate = Delegate()
    let keeper = try launch.keeper(delegate: delegate)
    let saved = try await keeper.save([])
    let restored = try await keeper.restore()
    XCTAssertEqual(saved.outcome, .saved)
    XCTAssertEqual(restored.outcome, .restored)
    XCTAssertEqual(delegate.asked, ["secure save", "secure restore"])
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

    var facts: [[String]] = []
    func read(_ coder: StateDecoder) throws {
      facts.append([
        try coder.decode(forKey: ReservedKey.applicationVersion),
        try coder.decode(forKey: ReservedKey.userInterfaceIdiom),
        try coder.decode(forKey: ReservedKey.systemVersion),
        "\(try coder.decode(Date.self, forKey: ReservedKey.timestamp) == launch.now)",
      ])
    }
    let root = TestNode("a")
    root.onDecode = read
    let view = TestView("v")
    view.onDecode = read
    root.restorationViews = [view]
    TestFactory.make = { path, coder in
      try read(coder)
      return TestNode(path.identifier)
    }
    let delegate = TestDelegate()
    delegate.onShouldRestore = { try? read($0) }
    delegate.onNode = { _, coder in
      try read(coder)
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
    delegate.onShouldRestore = { timestamp = try? $0.decode(forKey: ReservedKey.timestamp) }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(timestamp, launch.now)
  }

  func testTheSystemVersionIsAskedForIfItIsNotGiven() {
    XCTAssertFalse(ApplicationEnvironment().systemVersion.isEmpty)
  }

  func testEveryReservedKeyIsReportedForTheApplicationToo() async throws {
    let keys = [
      ReservedKey.applicationVersion, ReservedKey.userInterfaceIdiom, ReservedKey.timestamp,
      ReservedKey.systemVersion,
    ]
    let delegate = TestDelegate()
    delegate.onWillEncode = { coder in
      for key in keys { coder.encode("mine", forKey: key) }
    }
    let report = try await launch.keeper(delegate: delegate).save([])
    XCTAssertEqual(report.notes, keys.map { .reservedKey($0) })
    var read: [String] = []
    delegate.onDidDecode = { read = $0.keys }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(read, [])
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

  func testAReservedKeyIsReportedAndTheFactStays() async throws {
    let root = TestNode("a", value: "own")
    root.onEncode = { $0.encode("mine", forKey: ReservedKey.applicationVersion) }
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.notes, [.reservedKey(ReservedKey.applicationVersion)])
    XCTAssertEqual(try launch.storedRecords()?["a"]?.state?.keys, ["value"])

    var version: String?
    let restored = TestNode("a")
    restored.onDecode = { version = try $0.decode(forKey: ReservedKey.applicationVersion) }
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(version, "11")
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
    XCTAssertEqual(report.notes, [.willEncodeFailed("Failure")])
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])

    var keys: [String] = []
    delegate.onShouldRestore = { keys = $0.keys }
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(keys, ["version"])
  }
}
