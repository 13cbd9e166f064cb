#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a keeper was made with, and what its app may change.
struct EngineSettings {
  let source: StateFile.Source
  let now: () -> Date
  var policy = StatePolicy()
  /// Hears the problems of all reports, and what is asked then is all there is.
  var heard: (([String]) -> Void)?
  /// Is told the result of each save.
  var told: ((Result<PreservationReport, RestorationError>) -> Void)?

  init(_ source: StateFile.Source, now: @escaping () -> Date) {
    self.source = source
    // A clock that gives no number is none.
    self.now = { now().ifNumber ?? Date() }
  }

  /// What the file has to know of a call.
  var ofCall: StateFile.Conditions { (policy, now()) }
}
