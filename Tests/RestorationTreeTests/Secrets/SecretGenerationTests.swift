import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Secrets of a state beside which older generations are kept.
@MainActor
final class SecretGenerationTests: XCTestCase {
  private let launch = Launch()
  private var main: MemoryStorage { launch.store.memory(named: "main") }
  private var secretsBytes: [UInt8]? { launch.store.memory(named: "main.secrets").bytes }

  /// Saves a secret, or none, as a launch of a version of the app that restores first.
  private func save(
    _ secret: String?, version: String, bound: GenerationBound = GenerationBound()
  ) async throws {
    let keeper = try keeper(version: version)
    keeper.policy.generationBound = bound
    let node = SensitiveNode("node")
    _ = try await keeper.restore(into: [node])
    encode(secret, node)
    launch.now += 10
    _ = try await keeper.save([node])
    await keeper.close()
  }

  private func encode(_ secret: String?, _ node: SensitiveNode) {
    node.encode = { $0.encode(secret, forKey: "s", sensitivity: .secret) }
  }

  private func keeper(version: String) throws -> StateKeeper {
    launch.environment = ApplicationEnvironment(
      applicationVersion: version, userInterfaceIdiom: "test", systemVersion: "6.1")
    return try launch.keeper()
  }

  /// The secret that a launch finds, and its report.
  private func restored(
    _ keeper: StateKeeper
  ) async throws -> (secret: String?, report: RestorationReport) {
    var secret: String?
    let node = SensitiveNode("node")
    node.decode = { secret = try $0.decodeIfPresent(forKey: "s") }
    let report = try await keeper.restore(into: [node])
    return (secret, report)
  }

  // MARK: What comes back

  func testAGenerationThatStandsInComesBackWithItsSecrets() async throws {
    try await save("old", version: "1")
    try await save(nil, version: "2")
    main.bytes = [1, 2, 3]
    let keeper = try keeper(version: "2")
    let restored = try await restored(keeper)
    XCTAssertEqual(restored.report.source?.generation, .upgraded)
    XCTAssertEqual(restored.secret, "old")
    XCTAssertEqual(restored.report.notes, [])
  }

  func testAGenerationThatIsPutBackHasItsSecretsWhateverWasSavedSince() async throws {
    try await save("old", version: "1")
    for number in 0..<4 { try await save(number == 2 ? "new" : nil, version: "2") }
    let keeper = try keeper(version: "2")
    let generation = try await keeper.generations().first
    try await keeper.putBack(try XCTUnwrap(generation))
    let restored = try await restored(keeper)
    XCTAssertEqual(restored.secret, "old")
  }

  func testADamagedEndAndDamagedSubkeysAreBothReported() async throws {
    try await save("old", version: "1")
    try await save("new", version: "1")
    let whole = (state: try XCTUnwrap(main.bytes), secrets: try XCTUnwrap(secretsBytes))
    func problem(state: [UInt8], secrets: [UInt8]) async throws -> String? {
      main.bytes = state
      launch.store.memory(named: "main.secrets").bytes = secrets
      let keeper = try keeper(version: "1")
      let report = try await restored(keeper).report
      await keeper.close()
      return report.launchProblem
    }
    let cut = whole.state.dropLast(9) + [UInt8](repeating: 0, count: 9)
    let ofState = try await problem(state: cut, secrets: whole.secrets)
    let ofSecrets = try await problem(state: whole.state, secrets: [1])
    let both = try await problem(state: cut, secrets: [1])
    XCTAssertEqual(both, "\(try XCTUnwrap(ofState)); \(try XCTUnwrap(ofSecrets))")
    XCTAssertNotEqual(ofState, ofSecrets)
  }

  // MARK: What is forgotten

  func testWhatIsForgottenIsInNoGeneration() async throws {
    for selection in [SecretSelection.all, .value(forKey: "s", at: RestorationPath(["node"]))] {
      for isSavedAfter in [false, true] {
        let message = "\(selection), \(isSavedAfter)"
        try launch.removeState()
        for number in 0..<4 { try await save("old", version: "\(number)") }
        let generations = try main.generations()
        XCTAssertEqual(generations.count, 3)
        let keeper = try keeper(version: "3")
        try await keeper.forgetSecrets(selection)
        await keeper.close()
        XCTAssertNil(secretsBytes, message)
        if isSavedAfter { try await save("new", version: "3") }
        for bytes in generations.compactMap({ ($0.storage as? MemoryStorage)?.bytes }) {
          let copy = main.bytes
          main.bytes = bytes
          let restored = try await restored(try self.keeper(version: "3"))
          XCTAssertNil(restored.secret, message)
          XCTAssertEqual(restored.report.notes, [.forgottenSecrets(["s"])], message)
          main.bytes = copy
        }
      }
    }
  }

  /// The secret that a launch finds when nothing but the generation of another version is there.
  private func secretOfGeneration() async throws -> String? {
    XCTAssertEqual(try main.generations().map(\.reason), [.upgraded])
    main.bytes = nil
    let restored = try await restored(try keeper(version: "2"))
    XCTAssertEqual(restored.report.source?.generation, .upgraded)
    return restored.secret
  }

  func testASecretIsForgottenInGenerationsAlsoIfItsNodeMovedBeforeTheFirstSave() async throws {
    for forgets in [true, false] {
      try launch.removeState()
      try await save("old", version: "1")
      let keeper = try keeper(version: "2")
      let node = SensitiveNode("node")
      _ = try await keeper.restore(into: [node])
      node.restorationIdentifier = "moved"
      encode("old", node)
      _ = try await keeper.save([node])
      if forgets { try await keeper.forgetSecrets(.below(RestorationPath(["moved"]))) }
      await keeper.close()
      let secret = try await secretOfGeneration()
      XCTAssertEqual(secret, forgets ? nil : "old")
    }
  }

  func testASecretOfANodeThatIsAskedAfterTheOneAtItsOldPathIsForgottenToo() async throws {
    for isSavedBefore in [false, true] {
      try launch.removeState()
      try await save("old", version: "1")
      let keeper = try keeper(version: "2")
      let (node, new) = (SensitiveNode("node"), SensitiveNode("node"))
      encode("old", node)
      encode("new", new)
      let other = SensitiveNode("other")
      _ = try await keeper.restore(into: [node])
      if isSavedBefore { _ = try await keeper.save([node]) }
      node.restorationIdentifier = "moved"
      other.restorationChildren = [node]
      _ = try await keeper.saveEverything([new, other])
      try await keeper.forgetSecrets(.below(RestorationPath(["other"])))
      await keeper.close()
      let restored = try await restored(try self.keeper(version: "2"))
      XCTAssertEqual(restored.secret, "new", "\(isSavedBefore)")
      let secret = try await secretOfGeneration()
      XCTAssertNil(secret, "\(isSavedBefore)")
    }
  }

  // MARK: Subkeys that are not needed

  func testASubkeyGoesWithTheLastGenerationThatNeedsIt() async throws {
    let bound = GenerationBound(upgradedCount: 2)
    try await save("old", version: "1", bound: bound)
    for version in ["2", "2", "3"] {
      try await save(nil, version: version, bound: bound)
      XCTAssertNotNil(secretsBytes, version)
    }
    try await save(nil, version: "4", bound: bound)
    XCTAssertEqual(try main.generations().count, 2)
    XCTAssertNil(secretsBytes)
  }

  func testASubkeyThatNoGenerationNeedsGoesWithTheSave() async throws {
    try await save(nil, version: "1")
    try await save("new", version: "2")
    XCTAssertNotNil(secretsBytes)
    try await save(nil, version: "2")
    XCTAssertEqual(try main.generations().count, 1)
    XCTAssertNil(secretsBytes)
  }

  func testAGenerationThatCannotBeReadKeepsAllSubkeys() async throws {
    try await save(nil, version: "1")
    try await save("new", version: "2")
    let generation = try XCTUnwrap(try main.generations().first?.storage as? MemoryStorage)
    generation.bytes = [1, 2, 3]
    try await save(nil, version: "2")
    XCTAssertNotNil(secretsBytes)
    try generation.remove()
    try await save(nil, version: "2")
    XCTAssertNil(secretsBytes)
  }

  // MARK: Order

  func testSubkeysGoBeforeGenerationsAndTheseBeforeTheState() async throws {
    for end in ["discard", "decline"] {
      for number in 0..<3 { try await save("old", version: "\(number)") }
      let calls = Mutex<[String]>([])
      let (main, secrets) = (self.main, launch.store.memory(named: "main.secrets"))
      let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
        guard call == .remove, name.hasPrefix("main"), !name.hasSuffix(".launch") else { return }
        let count = try main.generations().count
        let call = "\(name), \(count), \(secrets.bytes == nil ? "gone" : "there")"
        calls.withLock { $0.append(call) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys,
        environment: launch.environment, now: { [launch] in launch.now })
      let delegate = TestDelegate()
      delegate.saves = end != "decline"
      keeper.delegate = delegate
      let node = SensitiveNode("node")
      _ = try await keeper.restore(into: [node])
      switch end {
      case "discard": try await keeper.discardState()
      case "decline": _ = try await keeper.save([node])
      default: break
      }
      XCTAssertEqual(
        calls.withLock { $0.prefix(2) }, ["main.secrets, 2, there", "main, 0, gone"], end)
      XCTAssertNil(main.bytes, end)
      await keeper.close()
    }
  }

  // MARK: Files

  func testNoFileHasASecretAndTheSubkeysHaveNoOlderFiles() async throws {
    let directory = try TemporaryDirectory()
    let secret = "top-secret"
    for number in 0..<6 {
      let keeper = try StateKeeper(
        application: Launch.application, directory: FileStateDirectory(path: directory.path),
        keys: launch.keys,
        environment: ApplicationEnvironment(
          applicationVersion: "\(number / 3)", systemVersion: "6.1"),
        now: { [launch] in launch.now })
      keeper.policy.generationBound = GenerationBound(previousCount: 3)
      let (root, node) = (SensitiveNode("root"), SensitiveNode("node"))
      _ = try await keeper.restore(into: [root])
      encode("\(secret) \(number)", node)
      encode(secret, root)
      let filler = String(repeating: "x", count: 70_000)
      root.value = "plain-value"
      root.restorationChildren = [
        node, TestNode("filler", value: filler), SensitiveNode("n\(number)"),
      ]
      if let last = root.restorationChildren.last as? SensitiveNode { encode("\(secret)!", last) }
      launch.now += 10
      _ = try await keeper.save([root])
      await keeper.close()
    }
    let names = try directory.names()
    XCTAssertEqual(names.filter { $0.hasPrefix("main.secrets") }, ["main.secrets.rka"])
    let states = names.filter { $0.hasPrefix("main.rka") }
    XCTAssertTrue(states.contains { $0.contains("previous") }, "\(names)")
    XCTAssertTrue(states.contains { $0.contains("upgraded") }, "\(names)")
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    for name in states + ["main.secrets.rka"] {
      let rest = name.hasPrefix("main.secrets") ? ["secrets"] : []
      let bytes = try directory.bytes(of: name)
      let archive = try XCTUnwrap(
        try Archive.open(
          MemoryStorage(bytes), key: key,
          context: ArchiveContext([Launch.application, "main"] + rest)))
      let frames = try archive.readAll().map { try $0.content.get().unsealed.frame }
      let texts = (frames + [bytes]).map { String(decoding: $0, as: UTF8.self) }
      XCTAssertFalse(texts.contains { $0.contains(secret) }, name)
      XCTAssertEqual(texts.contains { $0.contains("plain-value") }, rest.isEmpty, name)
    }
  }
}
