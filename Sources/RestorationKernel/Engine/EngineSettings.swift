internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

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
  /// The time of the last call, for the file, which asks on a thread of its own.
  private let fileTime = FileTime()
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
      environment: environment, now: { [fileTime] in fileTime.value })
    source.limits = limits
    return source
  }

  /// What the file has to know of a call.
  var ofFile: StateFilePolicy {
    fileTime.value = now()
    var file = StateFilePolicy()
    (file.instances, file.crashThreshold) = (policy.instances, policy.crashThreshold)
    (file.maximumAge, file.history) = (policy.maximumAge, policy.historyBound)
    return file
  }
}

private final class FileTime: Sendable {
  private let time = Mutex(Date())

  var value: Date {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}
