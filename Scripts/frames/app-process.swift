// An app that runs.

import Foundation
import RestorationTesting
import XCTest

func frame(app: AppProcess) throws {
  // The block stands here.
}
