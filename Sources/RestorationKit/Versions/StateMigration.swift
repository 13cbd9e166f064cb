/// A step from one version of a class's state to the next.
///
/// A migration runs in a restore, before a factory or an object sees the state. It
/// changes a copy: the stored state stays as it is until the next save.
///
///     try keeper.register(DetailScreen.self, version: 2, migrations: [
///       StateMigration(from: 1) { state in
///         try state.rename("name", to: "title")
///         try state.encode(state.decodeIfPresent(Int.self, forKey: "zoom") ?? 100, forKey: "zoom")
///       }
///     ])
public struct StateMigration {
  /// The version that the step starts from; the step leads to the next version.
  public let from: Int

  let change: (MigratingState) throws -> Void

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - from: The version that the step starts from.
  ///   - change: Changes the state. If it throws, the object is restored without state,
  ///     the report says why, and saves keep the stored state.
  public init(from: Int, _ change: @escaping (_ state: MigratingState) throws -> Void) {
    self.from = from
    self.change = change
  }
}

@available(*, unavailable, message: "a migration belongs to the actor of the keeper")
extension StateMigration: Sendable {}

/// The version of a class's state, and the steps from older versions.
struct StateVersion {
  /// The version of classes that are registered without one, and of states stored without one.
  static var first: StateVersion { StateVersion() }

  private(set) var number = 1
  /// The steps, ascending; the last leads to the version.
  private var migrations: [StateMigration] = []

  private init() {}

  /// Checks that there is one step from every version since the oldest one that can be migrated.
  init(_ number: Int, _ migrations: [StateMigration], className: String) throws(RestorationError) {
    let sorted = migrations.sorted { $0.from < $1.from }
    // Wrapping, since an app may give the largest Int as its version.
    let expected = sorted.indices.map { number &- sorted.count &+ $0 }
    guard number >= 1, sorted.map(\.from) == expected, sorted.first.map({ $0.from >= 1 }) ?? true
    else {
      throw RestorationError(
        .invalidMigrations,
        "\(className) has version \(number) and migrations from \(sorted.map(\.from)). There must be"
          + " one from every version from the oldest that is still read up to the one before it.")
    }
    (self.number, self.migrations) = (number, sorted)
  }

  /// The steps from a stored version, nil if there is none from there.
  func steps(from stored: Int) -> ArraySlice<StateMigration>? {
    let steps = migrations.drop { $0.from < stored }
    return stored == number || steps.first?.from == stored ? steps : nil
  }
}
