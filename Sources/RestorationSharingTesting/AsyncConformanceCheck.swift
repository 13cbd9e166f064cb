public import RestorationTesting

/// One promise of a protocol with asynchronous calls, and a way to see whether a type keeps it.
///
/// The check is as ``/RestorationTesting/ConformanceCheck``, but the functions that make and open
/// a place may wait, too:
///
///     for check in RemoteStoreConformance.checks {
///       try await check.run {
///         let table = try await makeEmptyTable()
///         return { try await MyStore(table) }
///       }
///     }
public struct AsyncConformanceCheck<Subject: Sendable>: Sendable {
  /// The name of the check, as in `replaceNeedsTheStoredVersion`.
  public let name: String

  /// The promise, in a sentence.
  public let promise: String

  private let body: @Sendable (_ open: () async throws -> Subject) async throws -> Void

  init(
    _ name: String, _ promise: String,
    body: @escaping @Sendable (_ open: () async throws -> Subject) async throws -> Void
  ) {
    (self.name, self.promise, self.body) = (name, promise, body)
  }

  /// Checks the promise in a new place.
  ///
  /// - Parameter makePlace: Makes an empty place, and returns a function that opens it.
  /// - Throws: ``/RestorationTesting/RestorationTestFailure`` with `brokenPromise` or `noPlace` as
  ///   ``/RestorationTesting/ConformanceCheck/run(_:)``.
  public func run(
    _ makePlace: () async throws -> () async throws -> Subject
  ) async throws(RestorationTestFailure) {
    do {
      let open = try await placed("made", makePlace)
      try await body { try await placed("opened", open) }
    } catch {
      throw RestorationTestFailure(brokenPromise: promise, of: name, by: error)
    }
  }
}

extension AsyncConformanceCheck: CustomStringConvertible {
  /// The name of the check.
  public var description: String { name }
}

extension Sequence {
  /// Runs all of the checks, one after another, each in a place of its own.
  ///
  /// - Parameter makePlace: Makes an empty place, and returns a function that opens it.
  /// - Returns: The failures of the checks, in the order of the checks.
  public func failures<Subject>(
    _ makePlace: () async throws -> () async throws -> Subject
  ) async -> [RestorationTestFailure] where Element == AsyncConformanceCheck<Subject> {
    var failures: [RestorationTestFailure] = []
    for check in self {
      do throws(RestorationTestFailure) {
        try await check.run(makePlace)
      } catch {
        failures.append(error)
      }
    }
    return failures
  }
}
