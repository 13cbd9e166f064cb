// A key of states.

import ArchiveCodec
import RestorationKit

func frame(key: ArchiveKey) throws {
  // The block stands here.
}
