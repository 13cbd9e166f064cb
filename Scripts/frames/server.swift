// A server, and what it is given.

import RestorationKit
import RestorationSharing

final class NoteScreen: RestorableScreen {
  @Restored var draft = ""
}

func frame(
  store: any RemoteStateStore, stateStore: any RemoteStateStore, keyStore: any RemoteStateStore,
  keys: any KeyProvider, keeper: StateKeeper, report: PreservationReport, window: NoteScreen,
  screen: NoteScreen, mark: String, session: String, id: String, user: String,
  connectionString: String, keepsTheirs: Bool
) async throws {
  // The block stands here.
}
