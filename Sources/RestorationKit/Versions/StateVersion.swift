/// The version of a class's state, and the steps from older versions.
struct StateVersion {
  /// The steps, each by the version that it starts from; it leads to the next version.
  typealias Migrations = [Int: (MigratingState) throws -> Void]

  /// The version of classes that are registered without one, and of states stored without one.
  static var first: StateVersion { StateVersion() }

  private(set) var number = 1
  private var migrations = Migrations()

  private init() {}

  /// Checks that there is one step from every version since the oldest one that can be migrated.
  init(_ number: Int, _ migrations: Migrations, className: String) throws(RestorationError) {
    let from = migrations.keys.sorted()
    // Wrapping, since an app may give the largest Int as its version.
    let expected = from.indices.map { number &- from.count &+ $0 }
    guard number >= 1, from == expected, from.first.map({ $0 >= 1 }) ?? true else {
      throw RestorationError(
        .invalidMigrations,
        "\(className) has version \(number) and migrations from \(from). There must be"
          + " one from every version from the oldest that is still read up to the one before it.")
    }
    (self.number, self.migrations) = (number, migrations)
  }

  /// The steps from a stored version, nil if there is none from there.
  func steps(from stored: Int) -> [(from: Int, change: (MigratingState) throws -> Void)]? {
    guard stored == number || migrations[stored] != nil else { return nil }
    return (stored..<number).compactMap { from in migrations[from].map { (from, $0) } }
  }
}
