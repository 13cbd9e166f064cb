package import RestorationFoundation
internal import ArchiveCodec

/// The app that ``Restoration`` has begun, and its values.
///
/// A process has one session. A test can have one of its own for the code that runs in its task.
package final class RestorationSession: Sendable {
  /// The directory of an app's states, the keys, and the facts that its saves carry.
  package struct Place: Sendable {
    var directory: (any StateDirectory)?
    var keys: (any KeyProvider)?
    var environment = ApplicationEnvironment()
    /// Is told the problems of each report.
    var heard: (@Sendable ([String]) -> Void)?
    var now: @Sendable () -> Date = { Date() }

    /// The directory and the keys that apps have by default.
    init() {}

    package init(
      directory: any StateDirectory, keys: any KeyProvider, environment: ApplicationEnvironment,
      hearing heard: (@Sendable ([String]) -> Void)? = nil,
      now: @escaping @Sendable () -> Date
    ) {
      (self.directory, self.keys, self.environment) = (directory, keys, environment)
      (self.heard, self.now) = (heard, now)
    }

    func makeKeeper(
      _ application: String, _ version: String?
    ) throws(RestorationError) -> StateKeeper {
      var environment = environment
      if let version { environment.applicationVersion = version }
      let keeper = try StateKeeper(
        application: application, directory: directory, keys: keys, environment: environment,
        now: now)
      if let heard { keeper.hearProblems(heard) }
      // A test may make a mistake that an app finds at its end.
      keeper.checksAllContents = directory != nil
      return keeper
    }
  }

  /// The values of the app.
  let values: ValueStore
  let place: Place
  /// The problems of values that were seen.
  package var problems: [ReportNote] { values.allProblems }
  @MainActor var begun: BegunRestoration?
  /// The result of the last save, also when the app has ended its restoration.
  @MainActor var lastSave: Result<PreservationReport, RestorationError>?

  /// A launch of an app within a test.
  package convenience init(_ place: Place) {
    Problems.noteKeeper()
    self.init(place, ValueStore())
  }

  private init(_ place: Place, _ values: ValueStore) {
    (self.place, self.values) = (place, values)
  }

  private static let ofProcess = RestorationSession(Place(), ValueStore.ofProcess)

  @TaskLocal private static var ofTest: RestorationSession?

  static var current: RestorationSession { ofTest ?? ofProcess }

  /// Whether the session ends with the process.
  var isOfProcess: Bool { self === Self.ofProcess }

  /// Runs a part of a test in this session.
  package func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$ofTest.withValue(self) {
      try await ValueStore.$ofTest.withValue(values) { try await body() }
    }
  }
}
