// A tab of a web site.

import RestorationKit
import RestorationSharing

final class TabWindow: RestorableScreen {
  @Restored var search = ""
}

struct NotStored: Error {
  init(_ outcome: ReportOutcome) {}
}

struct TabIsGone: Error {}
struct TooManyOthers: Error {}

actor Tab {
  let keeper: StateKeeper
  var window = TabWindow()

  init(_ keeper: StateKeeper) { self.keeper = keeper }

  // The block stands here.
}
