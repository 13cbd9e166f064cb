// A storage to test.

import ArchiveCodec
import RestorationTesting

typealias MyStorage = FileStorage

func frame(makeTemporaryPath: () -> String) throws {
  // The block stands here.
}
