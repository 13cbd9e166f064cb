/// The content of a commit as it is, well formed or not.
///
/// So a test can play somebody who has the key and seals what he likes: all
/// that is checked before the content is parsed fits.
package struct UncheckedContent: Sendable {
  package var bytes: [UInt8]
  /// What the trailer says of the footer, true or not.
  package var footerByteCount: UInt32

  package init(_ bytes: [UInt8], footerByteCount: UInt32) {
    self.bytes = bytes
    self.footerByteCount = footerByteCount
  }
}

/// A journal commit of any content; its header may lie, too.
package struct UncheckedChange: Sendable {
  package var content: UncheckedContent
  package var flags = CommitHeader.journal
  /// Added to the generation that is due.
  package var generationOffset: UInt64 = 0

  package init(_ content: UncheckedContent) {
    self.content = content
  }
}

extension Archive {
  /// Seals a snapshot and journal commits of any content.
  package static func write(
    unchecked snapshot: UncheckedContent, journal: [UncheckedChange] = [],
    to storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    random: RandomSource = .system, moment: Moment = .now
  ) throws(ArchiveError) {
    try storage.replace { sink throws(ArchiveError) in
      let keys = try UnlockedHeader(
        making: [.key(key)], context: context, replacing: nil, random: random)
      let writer = try SnapshotWriter(keys, random: random, moment: moment, sink: sink)
      var last = try writer.finish(snapshot)
      for change in journal {
        let commit = try CommitWriter(
          flags: change.flags,
          after: ArchiveVersion(
            generation: last.generation &+ change.generationOffset, mac: last.mac),
          keys: keys, chunkByteCount: 1 << Int(keys.header.chunkSize), random: random,
          witness: change.content.bytes, sink: sink)
        last = try commit.finish(change.content)
      }
    }
  }
}
