import ArchiveCodec
import ArchiveForge
import XCTest

/// Everything is sealed with this key and in this context.
enum VectorSealing {
  static let keyBytes = [UInt8](0..<32)
  static let contextFields = ["org.example.vectors", "main"]

  static var key: ArchiveKey {
    get throws { try .known(keyBytes) }
  }

  static let context = ArchiveContext(contextFields)
  static let moment = Archive.Moment(witness: Array("vectors".utf8))

  /// The bytes of an archive; another seed gives other keys and salts.
  static func bytes(
    seed: UInt64 = 1, schema: UInt32 = 0, _ body: (RecordBuilder) throws -> Void
  ) throws -> [UInt8] {
    let storage = MemoryStorage()
    let builder = RecordBuilder()
    try body(builder)
    _ = try Archive.write(
      builder.finish(), to: storage, slots: [.key(key)], context: context, replacing: nil,
      schema: schema,
      random: .fixed(seed: seed), moment: moment)
    return try XCTUnwrap(storage.bytes)
  }

  /// The bytes of what somebody made who has the key.
  static func bytes(
    sealing commits: [UncheckedArchive.Commit], seed: UInt64 = 1,
    _ edit: (inout UncheckedArchive) -> Void = { _ in }
  ) -> [UInt8] {
    var archive = UncheckedArchive(commits)
    edit(&archive)
    return archive.sealed(key: keyBytes, context: contextFields, random: .fixed(seed: seed))
  }

  static func writer(_ storage: MemoryStorage, seed: UInt64) throws -> ArchiveWriter {
    try ArchiveWriter(
      storage, with: .key(key), context: context, random: .fixed(seed: seed), moment: moment)
  }

  /// An archive of two records in one chunk.
  static func small(seed: UInt64 = 1) throws -> [UInt8] {
    try bytes(seed: seed) { builder in
      try builder.append(record: 1) { encoder in
        encoder.encode("text in progress", forKey: "text")
        encoder.encode(17, forKey: "cursor")
      }
      try builder.append(record: 2) { $0.encodeReference(to: 1, forKey: "parent") }
    }
  }
}
