import Foundation
package import RestorationKit

extension RestorationSession {
  /// Runs a launch of an app, which ends with the body.
  @MainActor
  package static func launch<Result>(
    in directory: any StateDirectory, _ keys: any KeyProvider,
    _ body: @MainActor () async throws -> Result
  ) async throws -> Result {
    let session = RestorationSession(
      directory: directory, keys: keys, environment: ApplicationEnvironment(), now: { Date() })
    return try await session.run {
      let result = try await body()
      await Restoration.end()
      return result
    }
  }
}
