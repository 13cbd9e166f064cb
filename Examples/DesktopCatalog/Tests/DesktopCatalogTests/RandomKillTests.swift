import DesktopTestSupport
import Foundation
import XCTest

/// However the moment of the kill falls, the user sees what was there in the last second.
final class RandomKillTests: XCTestCase {
  func testKilledThirtyTimesAtRandomMomentsItShowsWhatWasThereInTheLastSecond() throws {
    var generator = try seededGenerator()
    let desktop = try Desktop()
    try desktop.useSteadyLook()
    var app = try desktop.launch()
    var restored = try desktop.screen()
    var changes = 0
    for round in 1...30 {
      let stored = try desktop.copyOfState()
      let film = try Film(of: desktop, startingWith: restored)
      var keys = RandomKeys.inAWindow
      let end = Date(timeIntervalSinceNow: Double.random(in: 0.2...1.6, using: &generator))
      while Date() < end {
        try film.look()
        try keys.pressWhenItIsTime(on: desktop, using: &generator)
      }
      let killed = Date()
      XCTAssertEqual(try app.kill(), .signal(SIGKILL))
      try keys.release()

      app = try desktop.launch()
      let last = restored
      restored = try desktop.screen()
      if restored != last { changes += 1 }
      let lastSecond = killed.addingTimeInterval(-1)
      if film.frames(since: lastSecond).contains(where: restored.isEqual(butForCursorOf:)) {
        continue
      }
      // The app may have stored what it had no time to draw: it is given that time now.
      let kept = try desktop.copyOfState()
      try app.kill()
      try desktop.putBack(stored)
      app = try desktop.launch()
      var replayed = [try desktop.screen()]
      for key in keys.pressed {
        desktop.xdotool("key", key.name)
        replayed.append(try app.settled())
      }
      let ends = keys.pressed.map { $0.date.addingTimeInterval(RandomKeys.effect) }
      let late = zip(replayed, ends + [.distantFuture]).filter { $0.1 > lastSecond }.map(\.0)
      if !late.contains(where: restored.isEqual(butForCursorOf:)) {
        try assertEqualScreens(
          film.last, restored,
          """
          Round \(round) with \(generator): this was not there in the last second, nor would it \
          have been. The keys: \(keys.pressed.map(\.name)).
          """)
      }
      try app.kill()
      try desktop.putBack(kept)
      app = try desktop.launch()
      restored = try desktop.screen()
    }
    XCTAssertEqual(try app.sentences, [])
    XCTAssertGreaterThan(changes, 10)
  }

  func testKilledAtRandomMomentsWhileWindowsComeAndGoItAlwaysComesBack() throws {
    var generator = try seededGenerator()
    let desktop = try Desktop()
    var app = try desktop.launch()
    for round in 1...10 {
      var keys = RandomKeys.comingAndGoing
      let end = Date(timeIntervalSinceNow: Double.random(in: 0.2...1.6, using: &generator))
      // The last window that is closed ends the app.
      while Date() < end, app.child.isRunning {
        try keys.pressWhenItIsTime(on: desktop, using: &generator)
        Thread.sleep(forTimeInterval: 0.002)
      }
      try app.kill()
      try keys.release()
      app = try desktop.launch()
      XCTAssertEqual(try app.sentences, [], "Round \(round), \(generator)")
      // What a killed save has left is swept soon after the launch.
      func leftovers() -> [String] { desktop.storedNames.filter { $0.hasSuffix(".tmp") } }
      let swept = Date(timeIntervalSinceNow: 10)
      while !leftovers().isEmpty, Date() < swept { Thread.sleep(forTimeInterval: 0.05) }
      XCTAssertEqual(leftovers(), [], "Round \(round), \(generator)")
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
  private(set) var frames: [(screen: Screenshot, since: Date)]
  var last: Screenshot { frames[frames.count - 1].screen }

  init(of desktop: Desktop, startingWith screen: Screenshot) throws {
    self.desktop = desktop
    frames = [(screen, .distantPast)]
  }

  func look() throws {
    let now = try desktop.screen()
    if now != last { frames.append((now, Date())) }
  }

  /// The screens that were to be seen then or later.
  func frames(since start: Date) -> [Screenshot] {
    let first = frames.lastIndex { $0.since <= start } ?? 0
    return frames[first...].map(\.screen)
  }
}

/// Random keys with short pauses between them.
///
/// Ctrl-S is not among them: it writes the words to a file of their own, and a process can die
/// between that and the next save. Nor is what quits. Alt-D answers the question that Escape asks.
private struct RandomKeys {
  private let names: [String]
  private var next = Date()
  private var pressing: Child?
  private(set) var pressed: [(name: String, date: Date)] = []

  private init(_ keys: [(name: String, weight: Int)]) {
    names = keys.flatMap { Array(repeating: $0.name, count: $0.weight) }
  }

  static var inAWindow: RandomKeys { RandomKeys(keys) }

  static var comingAndGoing: RandomKeys {
    RandomKeys(keys + [("ctrl+n", 8), ("alt+Tab", 6), ("ctrl+w", 6)])
  }

  private static let keys = [
    ("Down", 10), ("Up", 4), ("Left", 4), ("Right", 4), ("Page_Down", 3), ("Page_Up", 2),
    ("Home", 1), ("End", 1), ("shift+Left", 3), ("Tab", 8), ("shift+Tab", 2), ("ctrl+1", 2),
    ("ctrl+2", 2), ("ctrl+3", 2), ("ctrl+e", 4), ("ctrl+f", 3), ("Escape", 4), ("BackSpace", 4),
    ("a", 5), ("o", 5), ("e", 3), ("F8", 1), ("alt+d", 4),
  ]

  /// How long a button is down before GTK does what a key has told it, in seconds.
  static let effect = 0.25

  mutating func pressWhenItIsTime(
    on desktop: Desktop, using generator: inout SeededGenerator
  ) throws {
    guard Date() >= next, pressing?.isRunning != true else { return }
    let name = names.randomElement(using: &generator) ?? "a"
    pressing = try desktop.child(["xdotool", "key", name])
    pressed.append((name, Date()))
    next = Date(timeIntervalSinceNow: Double.random(in: 0.02...0.15, using: &generator))
  }

  /// Waits until no key is held down, which would repeat itself for ever.
  func release() throws { _ = try pressing?.ending() }
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
