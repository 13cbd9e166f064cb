/// One promise of a protocol, and a way to see whether a type keeps it.
///
/// A check takes a function that makes a new, empty place and returns another function,
/// which opens that place. Each time the place is opened stands for another launch, or
/// for another part of the app that uses the same place.
///
///     for check in StorageConformance.checks {
///       try check.run {
///         let path = makeTemporaryPath()
///         return { MyStorage(path: path) }
///       }
///     }
public struct ConformanceCheck<Subject>: Sendable {
  /// The name of the check, as in `replaceIsAllOrNothing`.
  public let name: String

  /// The promise, in a sentence.
  public let promise: String

  private let body: @Sendable (_ open: () throws -> Subject) throws -> Void

  init(
    _ name: String, _ promise: String,
    body: @escaping @Sendable (_ open: () throws -> Subject) throws -> Void
  ) {
    (self.name, self.promise, self.body) = (name, promise, body)
  }

  /// Checks the promise in a new place.
  ///
  /// - Parameter makePlace: Makes an empty place, and returns a function that opens it.
  /// - Throws: ``RestorationTestFailure`` with `brokenPromise` if the promise is
  ///   broken, also by an error that should not have been thrown; the failure has the
  ///   promise and the observation. `noPlace` if the place could not be made or opened.
  public func run(
    _ makePlace: () throws -> () throws -> Subject
  ) throws(RestorationTestFailure) {
    do {
      let open = try placed("made", makePlace)
      try body { try placed("opened", open) }
    } catch {
      throw RestorationTestFailure(brokenPromise: promise, of: name, by: error)
    }
  }

  /// The check for a type that gives a subject.
  func pulledBack<Other>(
    _ name: String, _ subject: @escaping @Sendable (Other) throws -> Subject
  ) -> ConformanceCheck<Other> {
    ConformanceCheck<Other>(name, promise) { [body] open in
      try body { try subject(try open()) }
    }
  }
}

extension ConformanceCheck: CustomStringConvertible {
  /// The name of the check.
  public var description: String { name }
}

extension Sequence {
  /// Runs all of the checks, each in a place of its own.
  ///
  /// - Parameter makePlace: Makes an empty place, and returns a function that opens it.
  /// - Returns: The failures of the checks, in the order of the checks.
  public func failures<Subject>(
    _ makePlace: () throws -> () throws -> Subject
  ) -> [RestorationTestFailure] where Element == ConformanceCheck<Subject> {
    var failures: [RestorationTestFailure] = []
    for check in self {
      do throws(RestorationTestFailure) {
        try check.run(makePlace)
      } catch {
        failures.append(error)
      }
    }
    return failures
  }
}

extension RestorationTestFailure {
  /// The error of a check as a failure.
  package init(brokenPromise promise: String, of check: String, by error: any Error) {
    if let error = error as? NoPlace {
      self.init(
        .noPlace, check, expected: "The test makes an empty place and opens it.",
        seen: error.sentence)
      return
    }
    let seen = (error as? Observation)?.sentence ?? "It threw an error: \(error)"
    self.init(.brokenPromise, check, expected: promise, seen: seen)
  }
}

/// An observation that breaks the promise of a check.
package struct Observation: Error {
  let sentence: String

  package init(_ sentence: String) {
    self.sentence = sentence
  }
}

/// The reason why a check has no place, which says nothing about the promise.
private struct NoPlace: Error {
  let sentence: String

  init(_ attempt: String, _ error: any Error) {
    sentence = "It could not be \(attempt): \(error)"
  }
}

/// Makes or opens a place as the test does.
package func placed<Value>(_ attempt: String, _ body: () throws -> Value) throws -> Value {
  do { return try body() } catch { throw NoPlace(attempt, error) }
}

/// Makes or opens a place as the test does.
package func placed<Value>(_ attempt: String, _ body: () async throws -> Value) async throws
  -> Value
{
  do { return try await body() } catch { throw NoPlace(attempt, error) }
}

/// Ends the check if the condition does not hold.
package func expect(_ condition: Bool, _ seen: @autoclosure () -> String) throws {
  guard condition else { throw Observation(seen()) }
}

/// The value, or the end of the check if there is none.
package func require<Value>(_ value: Value?, _ seen: @autoclosure () -> String) throws -> Value {
  guard let value else { throw Observation(seen()) }
  return value
}
