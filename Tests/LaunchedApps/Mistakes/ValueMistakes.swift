import RestorationKit

/// Mistakes with single values.
@MainActor
enum ValueMistakes {
  static let all: [String: Mistakes.App] = [
    "count": { try await count(under: "count") },
    "cuont": { try await count(under: "cuont") },
    "twoTypes": twoTypes,
    "neverBegun": { RestoredValue("count", default: 0).value = 1 },
    "neverBegunWithAKeeper": neverBegunWithAKeeper,
    "begunTwice": begunTwice,
    "setBeforeBegin": setBeforeBegin,
    "keylessStruct": keylessStruct,
    "keylessClass": keylessClass,
    "inAnActor": inAnActor,
    "inAnExtension": inAnExtension,
    "local": local,
    "object": object,
    "updatesAtOnce": updatesAtOnce,
    "manyNumbers": manyNumbers,
    "newCases": { try await mode(NewMode.fancy) },
    "oldCases": { try await mode(OldMode.plain) },
    "oddNames": oddNames,
    "notANumber": notANumber,
    "thrownError": thrownError,
    "hugeText": hugeText,
    "besideMistakes": besideMistakes,
  ]

  private static func count(under key: String) async throws {
    try await Mistakes.begin()
    let count = RestoredValue(key, default: 0)
    count.value += 1
    print(count.value)
    await Restoration.end()
  }

  private static func twoTypes() async throws {
    try await Mistakes.begin()
    RestoredValue("count", default: 0).value = 1
    RestoredValue("count", default: "").value = "one"
    await Restoration.end()
  }

  /// The app stores its state by its own keeper.
  private static func neverBegunWithAKeeper() async throws {
    let keeper = try StateKeeper(application: "org.example.mistakes")
    _ = try await keeper.restore()
    RestoredValue("count", default: 0).value = 1
    await keeper.close()
  }

  private static func begunTwice() async throws {
    try await Mistakes.begin()
    do {
      try await Mistakes.begin()
    } catch {
      print(error)
    }
    await Restoration.end()
  }

  private static func setBeforeBegin() async throws {
    let count = RestoredValue("count", default: 0)
    count.value = 50
    try await Mistakes.begin()
    print(count.value)
    await Restoration.end()
  }

  private struct Keyless {
    @Restored var count = 0
    static let place = "\(#fileID):\(#line - 1)"
  }

  private static func keylessStruct() async throws {
    try await Mistakes.begin()
    let keyless = Keyless()
    keyless.count = 1
    print(Keyless.place)
    await Restoration.end()
  }

  private final class KeylessModel {
    @Restored var count = 0
    static let place = "\(#fileID):\(#line - 1)"
  }

  private static func keylessClass() async throws {
    try await Mistakes.begin()
    let keyless = KeylessModel()
    keyless.count = 1
    print(KeylessModel.place)
    await Restoration.end()
  }

  private actor Counter {
    @Restored("count") private var count = 0

    func add() -> Int {
      count += 1
      return count
    }
  }

  private static func inAnActor() async throws {
    try await Mistakes.begin()
    print(await Counter().add())
    await Restoration.end()
  }

  private static func local() async throws {
    try await Mistakes.begin()
    @Restored("local") var count = 0
    count += 1
    print(count)
    await Restoration.end()
  }

  /// Unchecked, as a newcomer writes it to please the compiler.
  private final class Note: Codable, @unchecked Sendable {
    var text = ""
  }

  private static func object() async throws {
    try await Mistakes.begin()
    let notes = RestoredValue("notes", default: [Note()])
    notes.value[0].text = "typed"
    await Restoration.end()
  }

  private static func updatesAtOnce() async throws {
    try await Mistakes.begin()
    let count = RestoredValue("count", default: 0)
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { count.value += 1 } }
    }
    await Restoration.end()
  }

  private static func manyNumbers() async throws {
    try await Mistakes.begin()
    let numbers = RestoredValue("numbers", default: [Int]())
    print(numbers.value.count)
    numbers.value = Array(0..<2_000_000)
    await Restoration.end()
  }

  private enum NewMode: String, Codable { case plain, fancy }
  private enum OldMode: String, Codable { case plain }

  private static func mode<Mode: Codable & Sendable>(_ mode: Mode) async throws {
    try await Mistakes.begin()
    let stored = RestoredValue("mode", default: mode)
    print(stored.value)
    if mode is NewMode { stored.value = mode }
    await Restoration.end()
  }

  private static func oddNames() async throws {
    for name in ["../evil", ""] {
      do {
        try await Restoration.begin(name)
      } catch {
        print(error)
      }
    }
    try await Restoration.begin("My Notes")
    await Restoration.end()
  }

  private static func notANumber() async throws {
    try await Mistakes.begin()
    let size = RestoredValue("size", default: 1.0)
    print(size.value)
    size.value = .nan
    await Restoration.end()
  }

  private static func hugeText() async throws {
    try await Mistakes.begin()
    RestoredValue("text", default: "").value = String(repeating: "typed ", count: 3_500_000)
    let count = RestoredValue("count", default: 0)
    count.value += 1
    print(count.value)
    print(await Restoration.end())
  }

  private static func besideMistakes() async throws {
    try await Mistakes.begin()
    Keyless().count = 1
    RestoredValue("count", default: "").value = "one"
    let count = RestoredValue("number", default: 0)
    count.value += 1
    print(count.value)
    RestoredValue("number", default: "").value = "one"
    await Restoration.end()
  }

  private struct Typed: Codable {
    struct Failure: Error { let text: String }
    var text = ""

    func encode(to encoder: any Encoder) throws { throw Failure(text: text) }
  }

  private static func thrownError() async throws {
    try await Mistakes.begin()
    RestoredValue("draft", default: Typed()).value = Typed(text: "typed by a user")
    await Restoration.end()
  }
}

extension ValueMistakes {
  @Restored("extended") private static var stored = 0

  private static func inAnExtension() async throws {
    try await Mistakes.begin()
    stored += 1
    print(stored)
    await Restoration.end()
  }
}
