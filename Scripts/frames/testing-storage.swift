// A storage to test.

import ArchiveCodec
import RestorationTesting
import Testing

typealias DatabaseStorage = FileStorage

func makeTemporaryPath() -> String { "" }
