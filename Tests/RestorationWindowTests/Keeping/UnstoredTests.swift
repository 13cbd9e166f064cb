import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What an app is told of a value that no save can store.
@MainActor
final class UnstoredTests: XCTestCase {
  private let directory = MemoryStateDirectory()
  private let keys = MemoryKeyProvider()

  private static let application = "org.example.unstored"

  private func launch<Result>(_ body: @MainActor () async throws -> Result) async throws -> Result {
    try await RestorationSession.launch(in: directory, keys, body)
  }

  private func begin(roots: @escaping @MainActor () -> [any RestorableNode] = { [] }) async throws {
    try await Restoration.begin(Self.application, signals: [], roots: roots)
  }

  // MARK: Values

  private struct Refuses: Codable, Sendable, Equatable {
    var number = 0

    init() {}

    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
      if number > 1 {
        throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "no"))
      }
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
  }

  private indirect enum Chain: Codable, Sendable, Equatable {
    case end
    case link(Chain)

    init(depth: Int) {
      self = .end
      for _ in 0..<depth { self = .link(self) }
    }
  }

  private struct App {
    @Restored("text") var text = ""
    @Restored("data") var data = Data()
    @Restored("chain") var chain = Chain.end
    @Restored("refuses") var refuses = Refuses()
    @Restored("ok") var ok = 0
  }

  private static let tooLarge = 17 << 20

  /// Values that no archive takes, each with the key of the value.
  private static let unstorable: [(key: String, set: @MainActor () -> Void)] = [
    ("text", { App().text = String(repeating: "x", count: tooLarge) }),
    ("data", { App().data = Data(count: tooLarge) }),
    ("chain", { App().chain = Chain(depth: 100) }),
    ("refuses", { App().refuses.number = 2 }),
  ]

  private static func setStorable() {
    App().text = "short"
    App().data = Data([1])
    App().chain = Chain(depth: 1)
    App().refuses.number = 1
  }

  /// The keys of the values that a problem calls not encodable.
  private var unstoredKeys: [String] {
    Restoration.problems.compactMap { problem in
      if case .storageEncodingFailed(let key, _) = problem { key } else { nil }
    }
  }

  /// Each kind of an end and of a save that says whether all is stored.
  private static let answers: [(name: String, ask: @MainActor () async throws -> Bool)] = [
    ("end", { await Restoration.end(within: .seconds(60)) }),
    ("endNow", { Restoration.endNow(within: .seconds(60)) }),
    (
      "keeper.endNow",
      { try XCTUnwrap(Restoration.keeper).endNow(saving: [], within: .seconds(60)) }
    ),
    (
      "flush",
      { try await XCTUnwrap(Restoration.keeper).autosave { [] }.flush(within: .seconds(60)) }
    ),
  ]

  func testNoAnswerIsThatAllIsStoredWhenAValueIsNot() async throws {
    try await launch {
      try await begin()
      Self.setStorable()
    }
    var count = 0
    for (key, set) in Self.unstorable {
      for (name, ask) in Self.answers {
        count += 1
        try await launch {
          try await begin()
          set()
          App().ok = count
          let isStored = try await ask()
          XCTAssertFalse(isStored, "\(key), \(name)")
          XCTAssertEqual(unstoredKeys, [key], name)
        }
        try await launch {
          try await begin()
          let app = App()
          XCTAssertEqual(app.ok, count, "\(key), \(name)")
          XCTAssertEqual(app.text, "short")
          XCTAssertEqual(app.data, Data([1]))
          XCTAssertEqual(app.chain, Chain(depth: 1))
          XCTAssertEqual(app.refuses.number, 1)
        }
      }
    }
  }

  func testAnAnswerIsThatAllIsStoredOnceTheValueFits() async throws {
    try await launch {
      try await begin()
      let autosave = try XCTUnwrap(Restoration.keeper).autosave { [] }
      for (key, set) in Self.unstorable {
        set()
        let whileUnstorable = await autosave.flush(within: .seconds(60))
        XCTAssertFalse(whileUnstorable, key)
        // A save of another change does not make up for it.
        App().ok += 1
        let later = await autosave.flush(within: .seconds(60))
        XCTAssertFalse(later, key)
        Self.setStorable()
        let once = await autosave.flush(within: .seconds(60))
        XCTAssertTrue(once, key)
      }
    }
  }

  private struct Keyless {
    @Restored var lost = 1
  }

  func testAValueThatNoStoreHasIsNotStored() async throws {
    let sets: [(name: String, set: @MainActor () -> Void)] = [
      ("without a key", { Keyless().lost = 2 }),
      (
        "of another type",
        {
          App().text = "short"
          RestoredValue("text", default: 0).value = 1
        }
      ),
      (
        "with a key too long",
        { RestoredValue(String(repeating: "k", count: 1025), default: 0).value = 1 }
      ),
    ]
    for (name, set) in sets {
      try await launch {
        try await begin()
        set()
        let isStored = await Restoration.end(within: .seconds(60))
        XCTAssertFalse(isStored, name)
      }
    }
    try await launch {
      try await begin()
      App().text = "long"
      let isStored = await Restoration.end(within: .seconds(60))
      XCTAssertTrue(isStored)
    }
  }

  // MARK: Screens

  private final class Screen: @MainActor RestorableScreen {
    @Restored var text = ""
    @Restored var refuses = Refuses()
    @Restored var zoom = 1
  }

  func testAFieldThatCannotBeStoredCostsNoOther() async throws {
    for (name, ask) in Self.answers.dropLast(2) {
      // A long text has a record of its own, and a short one is in that of the screen.
      for text in ["short", String(repeating: "long", count: 5000)] {
        try await launch {
          let screen = Screen()
          try await begin { [screen] }
          screen.text = text
          screen.refuses.number = 1
          screen.zoom = 2
        }
        for isSavedBefore in [true, false] {
          try await launch {
            let screen = Screen()
            try await begin { [screen] }
            XCTAssertEqual(screen.text, text, name)
            if isSavedBefore {
              screen.zoom = 0
              _ = try await XCTUnwrap(Restoration.keeper).save([screen])
            }
            screen.text = String(repeating: "x", count: Self.tooLarge)
            screen.refuses.number = 2
            screen.zoom = 3
            let isStored = try await ask()
            XCTAssertFalse(isStored, name)
            XCTAssertEqual(Set(unstoredKeys), ["text", "refuses"], name)
          }
          try await launch {
            let screen = Screen()
            try await begin { [screen] }
            XCTAssertEqual(screen.zoom, 3, name)
            XCTAssertEqual(screen.text, text, name)
            XCTAssertEqual(screen.refuses.number, 1, name)
            let isStored = await Restoration.end(within: .seconds(60))
            XCTAssertTrue(isStored, name)
          }
        }
      }
    }
  }

  func testAFieldThatRefusesOnlyOnceIsStoredByTheNextSave() async throws {
    final class Gate: @unchecked Sendable { var isOpen = false }
    final class Gated: @MainActor RestorableScreen {
      struct Value: Codable, Sendable {
        var gate = Gate()
        var number = 0
        init() {}
        init(from decoder: any Decoder) throws {
          number = try decoder.singleValueContainer().decode(Int.self)
        }
        func encode(to encoder: any Encoder) throws {
          if !gate.isOpen { throw CancellationError() }
          var container = encoder.singleValueContainer()
          try container.encode(number)
        }
      }
      @Restored var value = Value()
      @Restored var zoom = 1
    }
    try await launch {
      let screen = Gated()
      try await begin { [screen] }
      screen.value.number = 5
      let autosave = try XCTUnwrap(Restoration.keeper).autosave { [screen] }
      let closed = await autosave.flush(within: .seconds(60))
      XCTAssertFalse(closed)
      screen.value.gate.isOpen = true
      let open = await autosave.flush(within: .seconds(60))
      XCTAssertTrue(open)
    }
    try await launch {
      let screen = Gated()
      try await begin { [screen] }
      XCTAssertEqual(screen.value.number, 5)
    }
  }

  // MARK: Trees and windows

  func testNoAnswerIsThatAllIsStoredWhenANodeIsNot() async throws {
    let trees: [(name: String, roots: [any RestorableNode])] = [
      ("one identifier twice", [TestNode("a", children: [TestNode("b"), TestNode("b")])]),
      ("a root without an identifier", [TestNode(nil)]),
      ("a long identifier", [TestNode(String(repeating: "a", count: 2000))]),
    ]
    for (name, roots) in trees {
      try await launch {
        try await begin { roots }
        let isStored = await Restoration.end(within: .seconds(60))
        XCTAssertFalse(isStored, name)
      }
    }
  }

  func testAWindowThatLacksAFieldIsNotStored() async throws {
    let app = SceneLaunch()
    let host = try await app.host()
    let screen = Screen()
    app.prepare = { $0.roots = [screen] }
    let scene = try await host.open()
    let autosave = host.autosave()
    let before = await autosave.flush(within: .seconds(60))
    XCTAssertTrue(before)
    screen.text = String(repeating: "x", count: Self.tooLarge)
    try await host.save(scene)
    // The window is saved and has not changed since, so nothing asks it again.
    let isStored = await autosave.flush(within: .seconds(60))
    XCTAssertFalse(isStored)
    XCTAssertFalse(host.endNow(within: .seconds(60)))
    screen.text = ""
    scene.needsSave = true
    XCTAssertTrue(host.endNow(within: .seconds(60)))
  }

  func testTheProblemsOfTheAppNameTheFieldOfAWindow() async throws {
    try await launch {
      try await begin()
      let app = SceneLaunch()
      let host = SceneHost(try XCTUnwrap(Restoration.keeper))
      host.register(SceneConfiguration { app.makeDelegate() })
      let screen = Screen()
      app.prepare = { $0.roots = [screen] }
      try await host.launch()
      let scene = try await host.open()
      screen.text = String(repeating: "x", count: Self.tooLarge)
      try await host.save(scene)
      XCTAssertEqual(unstoredKeys, ["text"])
    }
  }

  // MARK: The status

  func testTheStatusOfAHomeWhereNothingCanBeWrittenIsNotActive() async throws {
    let folder = try TemporaryDirectory()
    func keeper() throws -> StateKeeper {
      try StateKeeper(
        application: Self.application, directory: FileStateDirectory(path: folder.path), keys: keys)
    }
    chmod(folder.path, 0o555)
    defer { chmod(folder.path, 0o755) }
    let user = OrdinaryUser()
    let keeper = try keeper()
    let report = try await keeper.restore(into: [])
    let problem = try XCTUnwrap(report.launchProblem)
    // Nothing is known of saves until the first one.
    XCTAssertTrue(problem.hasPrefix("The launch could not be marked: "), problem)
    do {
      _ = try await keeper.save([TestNode("a")])
      XCTFail("The folder cannot be written.")
    } catch {
      XCTAssertEqual(keeper.problem, "Nothing can be saved now. \(error)")
    }
    _ = consume user
    chmod(folder.path, 0o755)
    _ = try await keeper.save([TestNode("a")])
    XCTAssertNil(keeper.problem)
  }

  func testTheStatusIsNotActiveWhileTheDiskIsFull() async throws {
    let disk = AutosaveDisk()
    let launch = Launch()
    let keeper = try StateKeeper(
      application: Launch.application, directory: disk.directory(launch.store), keys: launch.keys)
    _ = try await keeper.restore()
    XCTAssertNil(keeper.problem)
    disk.failures = 1
    XCTAssertFalse(keeper.endNow(saving: [TestNode("a")], within: .seconds(60)))
    XCTAssertNotNil(keeper.problem)
    XCTAssertTrue(keeper.endNow(saving: [TestNode("a")], within: .seconds(60)))
    XCTAssertNil(keeper.problem)
  }
}
