// A store of states to test.

import RestorationSharing
import RestorationSharingTesting

func frame(
  makeEmptyTable: @escaping () async throws -> String,
  MyStore: @escaping @Sendable (String) async throws -> any RemoteStateStore
) async throws {
  // The block stands here.
}
