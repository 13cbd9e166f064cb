// An archive, what is in it, and what is to be.

import ArchiveCodec

struct Draft: Codable { var text: String }

struct Row {
  var id: UInt64
  var text: String
}

func frame(
  archive: Archive, record: KeyedDecoder, builder: RecordBuilder, records: RecordBatch,
  storage: FileStorage, key: ArchiveKey, context: ArchiveContext,
  archivePath: String, keyPath: String, bytes: [UInt8], typed: String, old: String,
  draft: Draft, table: [Row], notes: inout [UInt64: String],
  names: inout Set<String>
) throws {
  // The block stands here.
}
