#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
internal import ArchiveCodec

/// The app that ``Restoration`` has begun.
///
/// A process has one session. A test can have one of its own for the code that runs in its task.
package final class RestorationSession: Sendable {
  /// The directory of an app's states, the keys, and the facts that its saves carry.
  package struct Place: Sendable {
    let directory: (any StateDirectory)?
    let keys: (any KeyProvider)?
    let environment: ApplicationEnvironment
    /// Is told the problems of each report.
    let heard: (@Sendable ([String]) -> Void)?
    let now: @Sendable () -> Date

    /// By default, the directory and the keys are those of apps.
    package init(
      directory: (any StateDirectory)? = nil, keys: (any KeyProvider)? = nil,
      environment: ApplicationEnvironment = ApplicationEnvironment(),
      hearing heard: (@Sendable ([String]) -> Void)? = nil,
      now: @escaping @Sendable () -> Date = { Date() }
    ) {
      (self.directory, self.keys, self.environment) = (directory, keys, environment)
      (self.heard, self.now) = (heard, now)
    }

    func makeKeeper(
      _ application: String, _ version: String?
    ) throws(RestorationError) -> StateKeeper {
      let environment = version.map(environment.of(version:)) ?? environment
      let keeper = try StateKeeper(
        application: application, directory: directory, keys: keys, environment: environment,
        now: now)
      if let heard { keeper.engine.settings.heard = heard }
      return keeper
    }
  }

  let place: Place
  /// The keeper between the begin of the app and its end, and what its restore has reported.
  @MainActor var begun: (keeper: StateKeeper, report: Result<RestorationReport, RestorationError>?)?
  /// The result of the last save, also when the app has ended its restoration.
  @MainActor var lastSave: Result<PreservationReport, RestorationError>?

  /// A launch of an app within a test.
  package init(_ place: Place) { self.place = place }

  private static let ofProcess = RestorationSession(Place())

  @TaskLocal private static var ofTest: RestorationSession?

  static var current: RestorationSession { ofTest ?? ofProcess }

  /// Whether the session ends with the process.
  var isOfProcess: Bool { self === Self.ofProcess }

  /// Runs a part of a test in this session.
  package func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$ofTest.withValue(self) { try await body() }
  }
}
