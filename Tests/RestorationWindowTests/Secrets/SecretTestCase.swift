import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Two nodes with secrets and an application with one, for the tests of values that can be forgotten.
@MainActor
class SecretTestCase: XCTestCase {
  let launch = Launch()
  lazy var copying = CopyingStore(launch.store)

  /// Two nodes with secrets, one below the other, and one of the application.
  static let secrets = ["top-secret", "below-secret", "inner-secret", "app-secret"]
  /// What anybody may read who has the key.
  static let plain = "plain-value"

  let delegate = TestDelegate()
  var found: [String: String] = [:]

  func keeper(_ store: (any StateDirectory)? = nil) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: Launch.application, directory: store ?? copying.directory, keys: launch.keys,
      now: { [launch] in launch.now })
    keeper.delegate = delegate
    return keeper
  }

  override func setUp() async throws {
    delegate.onWillEncode = { $0.encode(Self.secrets[3], forKey: "app", sensitivity: .secret) }
    delegate.onDidDecode = { [unowned self] in found["app"] = try $0.decodeIfPresent(forKey: "app")
    }
  }

  func tree(_ secrets: [String] = SecretTestCase.secrets) -> SensitiveNode {
    let below = SensitiveNode("below") { coder in
      coder.encode(secrets[1], forKey: "s", sensitivity: .secret)
      try coder.encodeContainer(forKey: "in") {
        try $0.encode(Wrapped(text: secrets[2]), forKey: "s", sensitivity: .secret)
      }
    }
    let top = SensitiveNode("top") { coder in
      coder.encode(Self.plain, forKey: "plain")
      coder.encode(secrets[0], forKey: "s", sensitivity: .secret)
    }
    top.restorationChildren = [below]
    return top
  }

  struct Wrapped: Codable {
    let text: String
  }

  func emptyTree() -> SensitiveNode {
    let below = SensitiveNode("below")
    below.decode = { [unowned self] coder in
      found["below"] = try coder.decodeIfPresent(forKey: "s")
      found["inner"] = try coder.container(forKey: "in")?
        .decodeIfPresent(Wrapped.self, forKey: "s")?.text
    }
    let top = SensitiveNode("top")
    top.restorationChildren = [below]
    top.decode = { [unowned self] coder in
      found["top"] = try coder.decodeIfPresent(forKey: "s")
      found["plain"] = try coder.decodeIfPresent(forKey: "plain")
    }
    return top
  }

  /// What a launch finds, and the notes of its report.
  @discardableResult
  func restore(
    _ keeper: StateKeeper? = nil
  ) async throws -> (found: [String: String], notes: [ReportNote]) {
    found = [:]
    let report = try await (keeper ?? self.keeper()).restore(into: [emptyTree()])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertFalse(Self.secrets.contains { "\(report) \(report.tree)".contains($0) })
    return (found, report.notes)
  }

  let all = [
    "top": secrets[0], "below": secrets[1], "inner": secrets[2], "app": secrets[3], "plain": plain,
  ]

  func saveTree() async throws {
    let keeper = try keeper()
    _ = try await keeper.save([tree()])
    await keeper.close()
  }

  /// Saves the tree, and then some changes of it.
  func saveChanges(with keeper: StateKeeper) async throws {
    let top = tree()
    _ = try await keeper.save([top])
    for number in 0..<5 {
      top.value = "\(number)"
      _ = try await keeper.save([top])
    }
  }

  func forget(_ selection: SecretSelection) async throws {
    let keeper = try keeper()
    try await keeper.forgetSecrets(selection)
    await keeper.close()
  }

  var secretsBytes: [UInt8]? {
    get { launch.store.memory(named: "main.secrets").bytes }
    set { launch.store.memory(named: "main.secrets").bytes = newValue }
  }

  /// A state that was stored before its secrets were forgotten has none any more.
  func checkThatOnlyTheNewestHasSecrets(before old: [UInt8]?) async throws {
    let restored = try await restore()
    XCTAssertEqual(restored.found, all)
    launch.storedBytes = old
    let older = try await restore()
    XCTAssertEqual(older.found, ["plain": Self.plain])
  }
}
