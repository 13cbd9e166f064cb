// An archive, what is in it, and what is to be.

import ArchiveCodec

struct Draft: Codable { var text: String }

struct Row {
  var id: UInt64
  var text: String
}

final class Person: ImmutableArchiveObject {
  init(from decoder: ObjectDecoder) throws {}
  func encode(to encoder: KeyedEncoder) throws {}
}

func frame(
  archive: Archive, record: KeyedDecoder, builder: RecordBuilder, records: RecordBatch,
  classes: ArchiveClasses, storage: FileStorage, key: ArchiveKey, context: ArchiveContext,
  archivePath: String, keyPath: String, bytes: [UInt8], typed: String, old: String,
  draft: Draft, owner: Person, table: [Row], notes: inout [UInt64: String],
  names: inout Set<String>
) throws {
  // The block stands here.
}
