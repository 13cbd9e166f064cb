#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
internal import ArchiveCodec

/// What ``Restoration`` has begun, and the values of the app.
///
/// A process has one. A test can have one of its own for what runs in its task.
package final class RestorationSession: Sendable {
  /// Where the states of an app are, and what its saves say of it.
  package struct Place: Sendable {
    var directory: (any StateDirectory)?
    var keys: (any KeyProvider)?
    var environment = ApplicationEnvironment()
    var isStrict = false
    var now: @Sendable () -> Date = { Date() }

    /// Where apps have them.
    init() {}

    package init(
      directory: any StateDirectory, keys: any KeyProvider, environment: ApplicationEnvironment,
      isStrict: Bool, now: @escaping @Sendable () -> Date
    ) {
      (self.directory, self.keys, self.environment) = (directory, keys, environment)
      (self.isStrict, self.now) = (isStrict, now)
    }

    func makeKeeper(_ application: String) throws(RestorationError) -> StateKeeper {
      let keeper = try StateKeeper(
        application: application, directory: directory, keys: keys, environment: environment,
        now: now)
      keeper.isStrict = isStrict
      return keeper
    }
  }

  /// The values of the app.
  let values: ValueStore
  let place: Place
  @MainActor var begun: BegunRestoration?

  /// A launch of an app within a test.
  package convenience init(_ place: Place) { self.init(place, ValueStore()) }

  private init(_ place: Place, _ values: ValueStore) {
    (self.place, self.values) = (place, values)
  }

  private static let ofProcess = RestorationSession(Place(), ValueStore.ofProcess)

  @TaskLocal private static var ofTest: RestorationSession?

  static var current: RestorationSession { ofTest ?? ofProcess }

  /// Whether its end is that of the process.
  var isOfProcess: Bool { self === Self.ofProcess }

  /// Runs a part of a test as that launch.
  package func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$ofTest.withValue(self) {
      try await ValueStore.$ofTest.withValue(values) { try await body() }
    }
  }
}
