// A program with RestorationSharing and RestorationSharingTesting: a save that is sent, and one that another
// machine refuses.

import RestorationKit
import RestorationSharing
import RestorationSharingTesting

final class Screen: StatefulNode {
  let restorationIdentifier: String? = "screen"
  var restorableState = 0
}

@MainActor
func keeper(_ store: any RemoteStateStore, _ keys: any KeyProvider) throws -> StateKeeper {
  try StateKeeper(
    application: "org.example.sharer", directory: RemoteStateDirectory(store), keys: keys)
}

let store = FaultyRemoteStateStore(MemoryRemoteStateStore())
let keys: any KeyProvider = try .ephemeral()
let screen = Screen()
let (here, there) = (try keeper(store, keys), try keeper(store, keys))
_ = try await here.restore(into: [screen])
_ = try await there.save([screen])
let report = try await here.save([screen])
guard let conflict = report.conflict else { fatalError("\(report)") }
print("RestorationSharing is here: \(conflict)")
