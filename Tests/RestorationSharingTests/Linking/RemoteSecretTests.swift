import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Secrets in states that several machines share.
@MainActor
final class RemoteSecretTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private lazy var network = NetworkStore(base)
  private let keys = MemoryKeyProvider()
  private let copy = MemoryStateDirectory()
  private lazy var here = Device("here", network, keys: keys)
  private lazy var withCopy = Device("here", network, keys: keys, localCopy: copy)
  private lazy var there = Device("there", base, keys: keys)

  private func node(_ value: String? = nil, _ pin: String? = nil) -> TestNode {
    let node = TestNode("root", value: value)
    pins[ObjectIdentifier(node)] = pin
    nodes.append(node)
    node.onEncode = { [unowned self, unowned node] in
      $0.encode(pins[ObjectIdentifier(node)], forKey: "pin", sensitivity: .secret)
    }
    node.onDecode = { [unowned self, unowned node] in
      pins[ObjectIdentifier(node)] = try $0.decodeIfPresent(forKey: "pin")
    }
    return node
  }

  /// The secrets of nodes.
  private var pins: [ObjectIdentifier: String] = [:]
  private var nodes: [TestNode] = []

  private func pin(of node: TestNode) -> String? { pins[ObjectIdentifier(node)] }

  /// The secret in what is stored, for whoever has a copy of it and the key.
  private func pin(in bytes: [UInt8]?) async throws -> String? {
    let scratch = MemoryRemoteStateStore()
    scratch[bytes: "main"] = bytes
    let node = node()
    _ = try await Device("thief", scratch, keys: keys).launch().restore(into: [node])
    return pin(of: node)
  }

  /// Forgets secrets while the store cannot be reached, and ends the process.
  private func forgetWithoutTheStore() async throws {
    let keeper = try withCopy.launch()
    _ = try await keeper.save([node("Rome", "1234")])
    network.isReachable = false
    do {
      try await keeper.forgetSecrets(.all)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
  }

  /// Launches where the store can be reached, and looks what it has then.
  private func expectForgottenAfterALaunch() async throws {
    network.isReachable = true
    let next = try withCopy.launch()
    _ = try await next.restore(into: [node()])
    _ = await next.checkRemoteState()
    let pin = try await pin(in: base[bytes: "main"])
    XCTAssertNil(pin)
  }

  func testSecretsForgottenWithoutTheStoreAreForgottenThereAfterARelaunch() async throws {
    try await forgetWithoutTheStore()
    try await expectForgottenAfterALaunch()
  }

  func testSecretsForgottenAfterALostNoteAreForgottenInTheStore() async throws {
    try await forgetWithoutTheStore()
    for name in try copy.names() where name.contains(".remote") {
      copy.memory(named: name).bytes = nil
    }
    try await expectForgottenAfterALaunch()
  }

  func testASecretThatAnotherMachineHasForgottenIsGoneAfterTheNextRestore() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([node("Rome", "1234")])
    let other = try there.launch()
    _ = try await other.restore(into: [node()])
    try await other.forgetSecrets(.all)
    let root = node()
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Rome")
    XCTAssertNil(pin(of: root))
    root.value = "Oslo"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    let pin = try await pin(in: base[bytes: "main"])
    XCTAssertNil(pin)
  }

  /// Two machines that have each saved a secret of its own.
  private func conflict() async throws -> StateKeeper {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    let other = try there.launch()
    _ = try await other.restore(into: [TestNode("root")])
    _ = try await other.save([node("Oslo", "theirs")])
    let report = try await keeper.save([node("Paris", "ours")])
    guard report.conflict != nil else {
      XCTFail("The outcome was \(report.outcome).")
      return keeper
    }
    return keeper
  }

  func testForgottenSecretsAreInNothingThatAConflictSetAside() async throws {
    for choice in [ConflictChoice.ours, .theirs] {
      base[bytes: "main"] = nil
      let keeper = try await conflict()
      try await keeper.resolveConflict(keeping: choice)
      try await keeper.forgetSecrets(.all)
      let names = try await base.names(prefix: "")
      XCTAssertGreaterThan(names.count, 1)
      for name in names {
        let pin = try await pin(in: base[bytes: name])
        XCTAssertNil(pin, "\(choice) \(name)")
        base[bytes: name] = nil
      }
    }
  }

  func testWhatAConflictSetAsideHasItsSecretsWhenItIsPutBack() async throws {
    for (choice, expected) in [(ConflictChoice.ours, "theirs"), (.theirs, "ours")] {
      for name in try await base.names(prefix: "") { base[bytes: name] = nil }
      let keeper = try await conflict()
      try await keeper.resolveConflict(keeping: choice)
      let states = try await keeper.setAsideStates()
      try await keeper.putBack(try XCTUnwrap(states.first))
      let root = node()
      _ = try await there.launch().restore(into: [root])
      XCTAssertEqual(pin(of: root), expected, "\(choice)")
    }
  }

  /// Puts back what lost a conflict, which has its secret still.
  private func putBack(_ keeper: StateKeeper, _ what: String = "") async throws {
    let states = try await keeper.setAsideStates()
    try await keeper.putBack(try XCTUnwrap(states.first { $0.reason == .conflict }, what))
    let root = node()
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Paris", what)
    XCTAssertEqual(pin(of: root), "ours", what)
  }

  func testASaveOfALaterLaunchLeavesTheSecretsOfWhatWasSetAside() async throws {
    let keeper = try await conflict()
    try await keeper.resolveConflict(keeping: .theirs)
    await keeper.close()
    let later = try there.launch()
    let root = node()
    _ = try await later.restore(into: [root])
    root.value = "Bern"
    pins[ObjectIdentifier(root)] = nil
    _ = try await later.save([root])
    try await putBack(later)
  }

  func testAStateThatGoesLeavesTheSecretsOfWhatWasSetAside() async throws {
    for (localCopy, lease) in [
      (nil, nil), (MemoryStateDirectory(), nil), (nil, RemoteLease(owner: "server 1")),
      (MemoryStateDirectory(), RemoteLease(owner: "server 1")),
    ] {
      let what =
        "a copy: \(localCopy != nil), a lease: \(lease != nil)"
      for name in try await base.names(prefix: "") { base[bytes: name] = nil }
      let keeper = try await conflict()
      try await keeper.resolveConflict(keeping: .theirs)
      await keeper.close()
      let device = Device("there", base, keys: keys, localCopy: localCopy)
      device.lease = lease
      let later = try device.launch()
      _ = try await later.restore(into: [node()])
      let delegate = TestDelegate()
      delegate.saves = false
      later.delegate = delegate
      let report = try await later.save([node("Bern")])
      XCTAssertEqual(report.outcome, .declined)
      later.delegate = nil
      withExtendedLifetime(delegate) {}
      let value = try await here.restoredValue()
      XCTAssertNil(value, what)
      await later.close()
      // A launch that only restores changes nothing of it.
      let between = try device.launch()
      _ = try await between.restore(into: [node()])
      await between.close()
      let last = try there.launch()
      _ = try await last.restore(into: [node()])
      // Nor does a state that has no secrets take them with it.
      _ = try await last.save([TestNode("root", value: "Lima")])
      try await putBack(last, what)
    }
  }
}
