import ArchiveCodec
import ArchiveForge
import XCTest

/// Archives that must open for ever.
enum GoldenVectors {
  static func all() throws -> [NewVector] {
    let journal = try VectorJournal()
    return [
      NewVector(
        name: "golden-one-record", comment: "The one that the specification takes apart.",
        archive: try VectorSealing.bytes { builder in
          try builder.append(record: 1) { encoder in
            encoder.encode("draft", forKey: "text")
            encoder.encode(17, forKey: "cursor")
          }
        }),
      NewVector(
        name: "golden-empty", comment: "No records, schema 7.",
        archive: try VectorSealing.bytes(schema: 7) { _ in }),
      NewVector(
        name: "golden-no-context", comment: "A context without fields.",
        archive: try noContext(), context: []),
      NewVector(
        name: "golden-values", comment: "Every form of value, at its edges.",
        archive: try VectorSealing.bytes(GoldenValues.encode)),
      NewVector(
        name: "golden-names", comment: "Names that records repeat.",
        archive: try VectorSealing.bytes { builder in
          try builder.append(record: 1) { $0.encode(name: "Person", forKey: "class") }
          try builder.append(record: 2) { $0.encode(name: "other", forKey: "class") }
        }),
      NewVector(
        name: "golden-codable", comment: "Values of Codable types.",
        archive: try VectorSealing.bytes(GoldenCodable.encode)),
      NewVector(
        name: "golden-chunks", comment: "Chunks of 16 KiB, records across their ends.",
        archive: try VectorSealing.bytes { try texts($0, count: 12, length: 3000) }),
      NewVector(
        name: "golden-small-chunks", comment: "Chunks of 4 KiB, the last one full.",
        archive: try smallChunks()),
      NewVector(
        name: "golden-journal", comment: "Changes, removals and new names after the snapshot.",
        archive: journal.bytes),
      NewVector(
        name: "golden-compacted", comment: "The same archive as golden-journal, rewritten.",
        archive: try compacted(journal)),
      NewVector(
        name: "golden-compacted-journal", comment: "A change after the rewriting.",
        archive: try changed(compacted(journal))),
    ] + (try successors())
  }

  /// What a reader of this version must read although a newer one wrote it.
  private static func successors() throws -> [NewVector] {
    let content = HostileContent()
    func vector(
      _ name: String, _ comment: String, _ edit: (inout UncheckedArchive) -> Void
    ) throws -> NewVector {
      NewVector(
        name: "golden-newer-\(name)", comment: comment,
        archive: VectorSealing.bytes(sealing: [content.commit()], edit))
    }
    return [
      try vector("minor-version", "Any minor version is accepted.") { archive in
        archive.editHeader = { $0[9] = 7 }
      },
      try vector("writer-feature", "Readable; a writer must leave it alone.") { archive in
        archive.editHeader = { $0[16] = 1 }
      },
      try vector("optional-feature", "A feature that nobody must know.") { archive in
        archive.editHeader = { $0[23] = 0x80 }
      },
      try vector("slot", "A slot of an unknown type is skipped.") { archive in
        archive.editHeader = { header in
          header.insert(contentsOf: [9] + [UInt8](repeating: 0xFF, count: 127), at: 128)
          header[10...11] = [0xA0, 0x01]
          header[26] = 2
        }
      },
      NewVector(
        name: "golden-newer-frames", comment: "Unknown even frames are skipped, also between.",
        archive: VectorSealing.bytes(
          sealing: [
            HostileContent { content in
              let frame = HostileContent.Part.raw([254, 7, 1, 2, 3])
              content.order = [
                frame, .records, .raw([0, 1]), frame, .symbols, frame, .index, frame, .footer,
              ]
            }.commit()
          ])),
      NewVector(
        name: "golden-newer-footer", comment: "Extension fields that a reader need not know.",
        archive: VectorSealing.bytes(
          sealing: [
            HostileContent { $0.extensionFields = [1, 0, 2, 0, 0, 0, 8, 9, 2, 1, 0, 0, 0, 0] }
              .commit()
          ])),
    ]
  }

  private static func texts(_ builder: RecordBuilder, count: UInt64, length: Int) throws {
    for record in (1...count).reversed() {
      try builder.append(record: record) { encoder in
        encoder.encode(
          String(repeating: "\(record % 10)", count: length + Int(record)), forKey: "text")
      }
    }
  }

  private static func noContext() throws -> [UInt8] {
    let storage = MemoryStorage()
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encode("no context", forKey: "text") }
    _ = try Archive.write(
      builder.finish(), to: storage, slots: [.key(VectorSealing.key)], context: ArchiveContext([]),
      replacing: nil, schema: 0, random: .fixed(seed: 1), moment: VectorSealing.moment)
    return try XCTUnwrap(storage.bytes)
  }

  /// The text of the second record is as long as makes the content two chunks.
  private static func smallChunks() throws -> [UInt8] {
    func commit(_ length: Int) -> UncheckedArchive.Commit {
      let text = HostileContent.varint(UInt64(length)) + [UInt8](repeating: 0x78, count: length)
      return HostileContent { $0.records.append((2, HostileContent.map([0xAA] + text))) }.commit()
    }
    let length = try XCTUnwrap((7_000..<9_000).first { commit($0).content.count == 8192 })
    return VectorSealing.bytes(sealing: [commit(length)]) { $0.chunkSize = 12 }
  }

  private static func compacted(_ journal: VectorJournal) throws -> [UInt8] {
    let storage = MemoryStorage(journal.bytes)
    try VectorSealing.writer(storage, seed: 5).compact()
    return try XCTUnwrap(storage.bytes)
  }

  private static func changed(_ archive: [UInt8]) throws -> [UInt8] {
    let storage = MemoryStorage(archive)
    let writer = try VectorSealing.writer(storage, seed: 6)
    let builder = writer.builder()
    try builder.append(record: 5) { $0.encode("five", forKey: "text") }
    try writer.append(builder.finish(), removing: [4], schema: 8)
    return try XCTUnwrap(storage.bytes)
  }
}
