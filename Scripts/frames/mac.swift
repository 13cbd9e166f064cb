// An app on a Mac, whose block other systems only parse.

import RestorationKit

#if canImport(Darwin)
func frame() throws {
  // The block stands here.
}
#endif
