import ArchiveCodec
import XCTest

/// What the tests of archives with passphrases share.
class PassphraseTestCase: XCTestCase {
  let context = ArchiveContext(["org.example.test", "main"])

  /// An archive with one record.
  func archive(_ slots: NewSlot...) throws -> MemoryStorage {
    let storage = MemoryStorage()
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encode("kept", forKey: "text") }
    _ = try Archive.write(try builder.finish(), to: storage, slots: slots, context: context)
    return storage
  }
}
