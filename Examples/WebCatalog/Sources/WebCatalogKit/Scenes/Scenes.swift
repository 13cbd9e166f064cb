import RestorationKit
import RestorationSharing

/// Makes the keepers of one user's tabs.
struct Scenes: Sendable {
  static let application = "org.restorationkit.web-catalog"

  let directory: RemoteStateDirectory
  let keys: any KeyProvider
  let environment: ApplicationEnvironment
  let records: SessionRecords

  func keeper(of name: String) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: Self.application, name: name, directory: directory, keys: keys,
      environment: environment)
    // Changes that meet those of another server are made again, so the oldest and the two newest are enough.
    keeper.policy.historyAge = 0
    try keeper.register(ProductEditor.self) { _, _ in ProductEditor() }
    return keeper
  }
}
