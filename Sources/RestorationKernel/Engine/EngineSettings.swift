internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a keeper was made with, and what its app may change.
final class EngineSettings {
  let application: String
  let name: String
  let directory: any StateDirectory
  let keys: any KeyProvider
  let environment: ApplicationEnvironment
  let limits: ArchiveLimits
  let now: () -> Date
  var policy = StatePolicy()
  /// Hears the problems of all reports, and what is asked then is all there is.
  var heard: (([String]) -> Void)?

  init(
    application: String, name: String, directory: any StateDirectory, keys: any KeyProvider,
    environment: ApplicationEnvironment, limits: ArchiveLimits, now: @escaping () -> Date
  ) {
    (self.application, self.name) = (application, name)
    (self.directory, self.keys, self.environment) = (directory, keys, environment)
    self.limits = limits
    // A clock that gives no number is none.
    self.now = { now().ifNumber ?? Date() }
  }

  var source: StateFile.Source {
    var source = StateFile.Source(
      name: name, application: application, directory: directory, keys: keys,
      environment: environment, now: { Date() })
    source.limits = limits
    return source
  }

  var ofFile: StateFilePolicy {
    var file = StateFilePolicy()
    (file.instances, file.crashThreshold) = (policy.instances, policy.crashThreshold)
    (file.maximumAge, file.history) = (policy.maximumAge, policy.historyBound)
    return file
  }
}
