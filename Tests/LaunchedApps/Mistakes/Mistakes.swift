import RestorationKit

/// Mistakes of newcomers, each a small app; the second argument chooses one.
@MainActor
enum Mistakes {
  private static let all = ValueMistakes.all.merging(ScreenMistakes.all) { first, _ in first }
    .merging(EndMistakes.all) { first, _ in first }
    .merging(TerminalMistakes.all) { first, _ in first }

  typealias App = @MainActor () async throws -> Void

  static func main() async throws {
    guard let name = arguments.first, let app = all[name] else {
      fatalError("The second argument is one of the mistakes.")
    }
    try await app()
  }

  static func begin(
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] }
  ) async throws {
    try await Restoration.begin("org.example.mistakes", roots: roots)
  }
}
