import Foundation
import XCTest

/// However the moment of the kill falls, the user sees what was there in the last second.
final class RandomKillTests: XCTestCase {
  func testKilledThirtyTimesAtRandomMomentsItShowsWhatWasThereInTheLastSecond() throws {
    var generator = try seededGenerator()
    let desktop = try Desktop()
    var app = try desktop.launch()
    var restored = try desktop.screen()
    var seen: Set<Screenshot> = []
    for round in 1...30 {
      let keys = RandomKeys.inAWindow(using: &generator)
      let typing = try desktop.process(["xdotool"] + keys.words)
      let film = try Film(of: desktop, startingWith: restored)
      try typing.run()
      let end = Date(timeIntervalSinceNow: Double.random(in: 0.2...1.6, using: &generator))
      while Date() < end { try film.look() }
      let killed = Date()
      app.kill()
      XCTAssertTrue(app.wasKilled)
      typing.terminate()
      typing.waitUntilExit()

      app = try desktop.launch()
      restored = try desktop.screen()
      seen.insert(restored)
      let lastSecond = film.frames(since: killed.addingTimeInterval(-1))
      guard !lastSecond.contains(restored.hashValue) else { continue }
      try assertEqualScreens(
        film.last, restored,
        """
        Round \(round) with \(generator): \(lastSecond.count) screens were there in the last \
        second, and \(film.frames.count) in all\
        \(film.frames.contains { $0.screen == restored.hashValue } ? ", one of them this" : "").
        """)
    }
    XCTAssertEqual(try app.sentences, [])
    XCTAssertGreaterThan(seen.count, 10)
  }

  func testKilledAtRandomMomentsWhileWindowsComeAndGoItAlwaysComesBack() throws {
    var generator = try seededGenerator()
    let desktop = try Desktop()
    var app = try desktop.launch()
    for round in 1...10 {
      let keys = RandomKeys.comingAndGoing(using: &generator)
      let typing = try desktop.process(["xdotool"] + keys.words)
      try typing.run()
      let end = Date(timeIntervalSinceNow: Double.random(in: 0.2...1.6, using: &generator))
      // The last window that is closed ends the app.
      while Date() < end, app.isRunning { Thread.sleep(forTimeInterval: 0.005) }
      app.kill()
      typing.terminate()
      typing.waitUntilExit()
      app = try desktop.launch()
      XCTAssertEqual(try app.sentences, [], "Round \(round), \(generator)")
      XCTAssertEqual(
        app.windows.count, desktop.windowFiles.count, "Round \(round), \(generator)")
      XCTAssertEqual(
        desktop.storedNames.filter { $0.hasSuffix(".tmp") }, [], "Round \(round), \(generator)")
    }
  }

  /// Printed, so that a failure can be had again.
  private func seededGenerator() throws -> SeededGenerator {
    let seed = ProcessInfo.processInfo.environment["CATALOG_TEST_SEED"].flatMap { UInt64($0) }
    let generator = SeededGenerator(seed: seed ?? UInt64.random(in: 0...(.max)))
    FileHandle.standardError.write(Data("\(generator)\n".utf8))
    return generator
  }
}

/// What was on a screen, and when.
private final class Film {
  private let desktop: Desktop
  private(set) var frames: [(screen: Int, since: Date)]
  private(set) var last: Screenshot

  init(of desktop: Desktop, startingWith screen: Screenshot) throws {
    self.desktop = desktop
    frames = [(screen.hashValue, .distantPast)]
    last = screen
  }

  func look() throws {
    let now = try desktop.screen()
    if now != last {
      last = now
      frames.append((now.hashValue, Date()))
    }
  }

  /// The screens that were to be seen then or later.
  func frames(since start: Date) -> [Int] {
    let first = frames.lastIndex { $0.since <= start } ?? 0
    return frames[first...].map(\.screen)
  }
}

/// Random keys with short pauses between them, as commands of xdotool.
///
/// Ctrl-S is not among them: it writes the words to a file of their own, and a process can die
/// between that and the next save. Nor is what quits.
private struct RandomKeys {
  let words: [String]

  static func inAWindow(using generator: inout SeededGenerator) -> RandomKeys {
    RandomKeys(keys, using: &generator)
  }

  static func comingAndGoing(using generator: inout SeededGenerator) -> RandomKeys {
    RandomKeys(keys + [("ctrl+n", 8), ("alt+Tab", 6), ("ctrl+w", 6)], using: &generator)
  }

  private static let keys = [
    ("Down", 10), ("Up", 4), ("Left", 4), ("Right", 4), ("Page_Down", 3), ("Page_Up", 2),
    ("Home", 1), ("End", 1), ("shift+Left", 3), ("Tab", 8), ("shift+Tab", 2), ("ctrl+1", 2),
    ("ctrl+2", 2), ("ctrl+3", 2), ("ctrl+e", 4), ("ctrl+f", 3), ("Escape", 4), ("BackSpace", 4),
    ("a", 5), ("o", 5), ("e", 3), ("F8", 1),
  ]

  private init(_ keys: [(name: String, weight: Int)], using generator: inout SeededGenerator) {
    let keys = keys.flatMap { Array(repeating: $0.name, count: $0.weight) }
    words = (0..<60).flatMap { _ in
      [
        "key", keys.randomElement(using: &generator) ?? "Down", "sleep",
        "\(Double.random(in: 0.01...0.12, using: &generator))",
      ]
    }
  }
}

/// SplitMix64: small, and the same everywhere for the same seed.
struct SeededGenerator: RandomNumberGenerator, CustomStringConvertible {
  private let seed: UInt64
  private var state: UInt64

  init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  var description: String { "CATALOG_TEST_SEED=\(seed)" }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
