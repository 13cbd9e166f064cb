// A file that others write, too.

import Foundation
import RestorationDrafts

func frame(url: URL) throws {
  // The block stands here.
}
