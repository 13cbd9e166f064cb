import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Values with a sensitivity in states that are larger than they may be.
@MainActor
final class SensitiveBudgetTests: XCTestCase {
  private let launch = Launch()
  private let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
  private var secretsBytes: [UInt8]? { launch.store.memory(named: "main.secrets").bytes }

  private func go(to seconds: TimeInterval) { launch.now = start + seconds }

  private func keeper(hard: Int) throws -> StateKeeper {
    let keeper = try launch.keeper()
    keeper.policy.sizeBudget = SizeBudget(hard: hard)
    return keeper
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  private func node(_ name: String, secret: String? = nil) -> SensitiveNode {
    SensitiveNode(name) { $0.encode(secret, forKey: "s", sensitivity: .secret) }
  }

  private func root(_ nodes: SensitiveNode...) -> SensitiveNode {
    let root = SensitiveNode("root")
    root.restorationChildren = nodes
    return root
  }

  // MARK: Sizes

  func testValuesWithASensitivityCount() async throws {
    let expiring = SensitiveNode("expiring", value: text(3_000))
    for node in [expiring, node("secret", secret: text(3_000))] {
      try launch.removeState()
      let report = try await keeper(hard: 1_000).save([root(node)])
      let name = try XCTUnwrap(node.restorationIdentifier)
      guard case .overBudget(let byteCount) = report.outcome(of: "root/\(name)") else {
        XCTFail("\(report)")
        continue
      }
      XCTAssertGreaterThan(byteCount, 3_000)
      XCTAssertEqual(try launch.storedPaths(), ["root"])
    }
  }

  func testValuesOfTheApplicationWithASensitivityCount() async throws {
    let delegate = TestDelegate()
    let text = text(3_000)
    let sensitivities: [Sensitivity] = [.secret, .expiring(after: .seconds(60))]
    for sensitivity in sensitivities {
      try launch.removeState()
      delegate.onWillEncode = { $0.encode(text, forKey: "text", sensitivity: sensitivity) }
      let keeper = try keeper(hard: 1_000)
      keeper.delegate = delegate
      let report = try await keeper.save([root()])
      XCTAssertGreaterThan(report.sizes.byteCount, 3_000)
      XCTAssertEqual(
        report.entries.first?.notes,
        [.overHardBudget(byteCount: report.sizes.byteCount, hard: 1_000)])
    }
  }

  // MARK: Subkeys

  func testANodeThatIsLeftOutHasNoSubkeyStored() async throws {
    for isReferredTo in [false, true] {
      for isStoredBefore in [false, true] {
        let message = "\(isReferredTo) \(isStoredBefore)"
        try launch.removeState()
        let keeper = try keeper(hard: 1_000)
        let heavy = node("heavy", secret: text(5_000))
        let other = SensitiveNode("other")
        if isReferredTo { other.encode = { $0.encode(heavy, forKey: "reference") } }
        let root = root(other)
        if isStoredBefore { _ = try await keeper.save([root]) }
        root.restorationChildren.append(heavy)
        for number in 0..<3 {
          other.value = "\(number)"
          let report = try await keeper.save([root])
          guard case .overBudget = report.outcome(of: "root/heavy") else {
            XCTFail("\(message): \(report)")
            continue
          }
          XCTAssertNil(secretsBytes, message)
        }
        heavy.encode = { $0.encode("s", forKey: "s", sensitivity: .secret) }
        _ = try await keeper.save([root])
        XCTAssertNotNil(secretsBytes, message)
        try await keeper.forgetSecrets(.below(RestorationPath(["root", "heavy"])))
        XCTAssertNil(secretsBytes, message)
        await keeper.close()
      }
    }
  }

  func testANodeThatIsLeftOutLaterLosesItsSubkey() async throws {
    for isReferredTo in [false, true] {
      try launch.removeState()
      let keeper = try keeper(hard: 1_000)
      let heavy = node("heavy", secret: text(600))
      let other = SensitiveNode("other")
      if isReferredTo { other.encode = { $0.encode(heavy, forKey: "reference") } }
      let root = root(other, heavy)
      _ = try await keeper.save([root])
      XCTAssertNotNil(secretsBytes)
      other.value = text(700)
      heavy.encode = { [text = text(900)] in $0.encode(text, forKey: "s", sensitivity: .secret) }
      let report = try await keeper.save([root])
      guard case .overBudget = report.outcome(of: "root/heavy") else {
        return XCTFail("\(report)")
      }
      XCTAssertNil(secretsBytes)
      await keeper.close()
    }
  }

  func testANodeThatKeepsItsLastStateKeepsTheSecretOfThat() async throws {
    let keeper = try keeper(hard: 2_000)
    let grown = node("grown", secret: "old")
    let root = root(grown)
    _ = try await keeper.save([root])
    let bytes = secretsBytes
    grown.encode = { [text = text(5_000)] coder in
      coder.encode(text, forKey: "s", sensitivity: .secret)
      coder.encode("another", forKey: "t", sensitivity: .secret)
    }
    for _ in 0..<3 {
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome(of: "root/grown"), .savedWithLastState)
      XCTAssertEqual(secretsBytes, bytes)
    }
    await keeper.close()
    var found: [String?] = []
    let back = SensitiveNode("grown")
    back.decode = {
      found = [try $0.decodeIfPresent(forKey: "s"), try $0.decodeIfPresent(forKey: "t")]
    }
    _ = try await launch.keeper().restore(into: [self.root(back)])
    XCTAssertEqual(found, ["old", nil])
  }

  // MARK: Ages

  /// What a launch finds at a time.
  private func found(at seconds: TimeInterval) async throws -> String? {
    go(to: seconds)
    let node = SensitiveNode("node")
    let next = try launch.keeper()
    _ = try await next.restore(into: [root(node)])
    await next.close()
    return node.value
  }

  /// A node whose value is stored at 0, and that has had no room with another one at 10.
  private func grown(_ keeper: StateKeeper, value: String) async throws -> SensitiveNode {
    let node = SensitiveNode("node", value: "old")
    _ = try await keeper.save([root(node)])
    go(to: 10)
    node.value = value
    node.encode = { [text = text(5_000)] in $0.encode(text, forKey: "text") }
    let report = try await keeper.save([root(node)])
    XCTAssertEqual(report.outcome(of: "root/node"), .savedWithLastState)
    node.encode = { _ in }
    return node
  }

  func testAValueThatHadNoRoomIsAsOldAsTheSaveThatStoredIt() async throws {
    for isEverything in [false, true] {
      try launch.removeState()
      go(to: 0)
      let keeper = try keeper(hard: 2_000)
      let node = try await grown(keeper, value: "new")
      go(to: 30)
      let report =
        isEverything
        ? try await keeper.saveEverything([root(node)]) : try await keeper.save([root(node)])
      XCTAssertEqual(report.outcome(of: "root/node"), .saved)
      await keeper.close()
      for (seconds, value) in [(31, "new"), (89.9, "new"), (90, nil)] {
        let found = try await found(at: seconds)
        XCTAssertEqual(found, value, "\(seconds)")
      }
    }
  }

  func testAValueThatStayedStoredMeanwhileGoesOnWithItsAge() async throws {
    let keeper = try keeper(hard: 2_000)
    let node = try await grown(keeper, value: "new")
    go(to: 30)
    node.value = "old"
    _ = try await keeper.save([root(node)])
    await keeper.close()
    for (seconds, value) in [(59.9, "old"), (60, nil)] {
      let found = try await found(at: seconds)
      XCTAssertEqual(found, value, "\(seconds)")
    }
  }

  func testAValueThatWasTakenAwayWhileAnotherNodeHadNoRoomBeginsAnew() async throws {
    let keeper = try keeper(hard: 2_000)
    let (node, other) = (SensitiveNode("node", value: "v"), SensitiveNode("other"))
    let root = root(node, other)
    _ = try await keeper.save([root])
    let large: (StateEncoder) throws -> Void = { [text = text(5_000)] in
      $0.encode(text, forKey: "text")
    }
    (node.value, other.encode) = (nil, large)
    let first = try await keeper.save([root])
    XCTAssertEqual(first.outcome(of: "root/other"), .savedWithLastState)
    (node.encode, other.encode) = (large, { _ in })
    let second = try await keeper.save([root])
    XCTAssertEqual(second.outcome(of: "root/node"), .savedWithLastState)
    go(to: 30)
    (node.value, node.encode) = ("v", { _ in })
    _ = try await keeper.save([root])
    await keeper.close()
    for (seconds, value) in [(89.9, "v"), (90, nil)] {
      let found = try await found(at: seconds)
      XCTAssertEqual(found, value, "\(seconds)")
    }
  }

  func testAValueThatWasLeftOutBeginsAnew() async throws {
    let keeper = try keeper(hard: 1_000)
    let (node, other) = (SensitiveNode("node", value: text(600)), SensitiveNode("other"))
    let root = root(node, other)
    _ = try await keeper.save([root])
    go(to: 30)
    node.value = text(900)
    other.value = text(700)
    let report = try await keeper.save([root])
    guard case .overBudget = report.outcome(of: "root/node") else {
      return XCTFail("\(report)")
    }
    go(to: 40)
    node.value = text(600)
    other.value = nil
    _ = try await keeper.save([root])
    await keeper.close()
    for (seconds, value) in [(99.9, text(600)), (100, nil)] {
      let found = try await found(at: seconds)
      XCTAssertEqual(found, value, "\(seconds)")
    }
  }
}
