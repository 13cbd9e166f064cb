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

/// A script of random keys with short pauses between them.
///
/// Ctrl-S is not among the keys: it writes the edit to a file of its own, and a process can die
/// between that and the next save. Nor are the keys that quit.
struct RandomKeys {
  private let words: [String]

  private init(_ keys: [(word: String, weight: Int)]) {
    words = keys.flatMap { Array(repeating: $0.word, count: $0.weight) }
  }

  /// The keys of screens.
  static let screen = RandomKeys(screenKeys)

  /// Those that go from window to window as well.
  static let windows = RandomKeys(screenKeys + [("ctrl-o", 7)])

  /// Those that open and close windows as well.
  static let comingAndGoing = RandomKeys(
    screenKeys + [("ctrl-n", 6), ("ctrl-o", 6), ("ctrl-w", 4)])

  private static let screenKeys: [(word: String, weight: Int)] = [
    ("down", 8), ("up", 4), ("left", 4), ("right", 4), ("pgdn", 2), ("pgup", 1), ("home", 1),
    ("end", 1), ("tab", 5), ("shift-tab", 2), ("enter", 6), ("e", 6), ("esc", 3), ("ctrl-d", 2),
    ("/", 2), ("backspace", 3), ("delete", 2), ("a", 5), ("o", 5), ("space", 3), ("é", 2), ("日", 2),
    (#"text:"tea pot""#, 2), (#"text:"\n""#, 1),
  ]

  /// A script that takes at least this long.
  func script(milliseconds: Int, using generator: inout SeededGenerator) -> String {
    var script: [String] = []
    var left = milliseconds
    while left > 0, let word = words.randomElement(using: &generator) {
      let pause = Int.random(in: 0...60, using: &generator)
      script += [word, "wait:\(pause)ms"]
      left -= pause
    }
    return script.joined(separator: " ")
  }
}
