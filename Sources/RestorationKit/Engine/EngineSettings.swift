internal import ArchiveCodec
internal import RestorationFoundation

/// The settings of a keeper, for its own state and for those of all scenes.
final class EngineSettings {
  let application: String
  let directory: any StateDirectory
  let keys: any KeyProvider
  let environment: ApplicationEnvironment
  let limits: ArchiveLimits
  let now: () -> Date

  // The properties of a keeper with these names say what the variables mean.
  var policy = StatePolicy()
  /// Is told the problems of each report, in a test; each save asks everything then.
  var heard: (([String]) -> Void)?
  /// Whether saves remember the answers of objects, for a poll to compare with.
  var isPolled = false
  /// The values of the app, which are told of the problems of all fields; nil if it has none.
  var valuesOfApp: ValueStore?
  /// Whether saves ask all nodes that say when they change whether they contain others than before.
  var checksAllContents = false

  init(
    application: String, directory: any StateDirectory, keys: any KeyProvider,
    environment: ApplicationEnvironment, limits: ArchiveLimits, now: @escaping () -> Date
  ) {
    self.application = application
    self.directory = directory
    self.keys = keys
    self.environment = environment
    self.limits = limits
    // A clock that gives no number is none.
    self.now = { now().ifNumber ?? Date() }
  }

  var settingAside: SettingAside {
    SettingAside(bound: policy.setAsideBound, generations: policy.generationBound, date: now())
  }

  /// Whether the states that are stored on this machine outlast the process.
  var isCopyLasting: Bool { directory.linkedStates?.directory.isCopyLasting ?? true }
}
