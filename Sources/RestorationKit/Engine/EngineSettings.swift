internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a keeper was made with and told, for its own state and for those of all
/// scenes.
final class EngineSettings {
  let application: String
  let directory: any StateDirectory
  let keys: any KeyProvider
  let environment: ApplicationEnvironment
  let limits: ArchiveLimits
  let now: () -> Date

  // What a keeper says of its properties holds for these.
  var trace: ((RestorationTrace) -> Void)?
  var isStrict = false
  var nodeLimit = 1 << 22
  var sizeBudget: SizeBudget?
  var keptBound: KeptBound? = KeptBound()
  var crashThreshold = 2
  var watchdog: RestorationWatchdog?
  var setAsideBound = SetAsideBound()
  var generationBound = GenerationBound()
  var consumesStateOnLaunch = false
  /// Whether saves remember what a poll compares with.
  var isPolled = false

  init(
    application: String, directory: any StateDirectory, keys: any KeyProvider,
    environment: ApplicationEnvironment, limits: ArchiveLimits, now: @escaping () -> Date
  ) {
    self.application = application
    self.directory = directory
    self.keys = keys
    self.environment = environment
    self.limits = limits
    self.now = now
  }

  var settingAside: SettingAside {
    SettingAside(bound: setAsideBound, generations: generationBound, date: now())
  }

  /// Whether what is stored on this machine outlasts the process.
  var isCopyLasting: Bool { (directory as? RemoteStateDirectory)?.isCopyLasting ?? true }
}
