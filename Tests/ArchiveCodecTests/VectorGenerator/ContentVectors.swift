import ArchiveCodec
import ArchiveForge

/// Commits of somebody who has the key: authentic, but not well formed.
enum ContentVectors {
  private typealias Bytes = HostileContent

  static func all() throws -> [NewVector] {
    try numbers() + frames() + indices() + footers() + symbols() + journals()
  }

  private enum Found {
    case opening, verifying
  }

  private static func vector(
    _ name: String, _ comment: String, _ code: ArchiveError.Code, _ found: Found,
    _ commits: [UncheckedArchive.Commit], _ edit: (inout UncheckedArchive) -> Void = { _ in }
  ) throws -> NewVector {
    NewVector(
      name: name, comment: comment, archive: VectorSealing.bytes(sealing: commits, edit),
      expect: found == .opening ? "\(code)" : "opens",
      verify: found == .verifying ? "\(code)" : nil)
  }

  private static func vector(
    _ name: String, _ comment: String, _ code: ArchiveError.Code,
    _ commits: [UncheckedArchive.Commit], _ edit: (inout UncheckedArchive) -> Void = { _ in }
  ) throws -> NewVector {
    try vector(name, comment, code, .opening, commits, edit)
  }

  private static func vector(
    _ name: String, _ comment: String, _ code: ArchiveError.Code, _ found: Found = .opening,
    _ edit: (inout HostileContent) -> Void
  ) throws -> NewVector {
    try vector(name, comment, code, found, [HostileContent(edit).commit()])
  }

  /// What stands in the commit header and the trailer.
  private static func numbers() throws -> [NewVector] {
    func snapshot(_ edit: (inout UncheckedArchive.Commit) -> Void) -> UncheckedArchive.Commit {
      var commit = HostileContent().commit()
      edit(&commit)
      return commit
    }
    let journal = HostileContent { content in
      content.symbols = Bytes.table([])
    }.commit(flags: 2)
    return [
      try vector("sealed-flags-0", "No flags.", .unsupportedFeature, [snapshot { $0.flags = 0 }]),
      try vector(
        "sealed-flags-3", "Snapshot and journal at once.", .unsupportedFeature,
        [snapshot { $0.flags = 3 }]),
      try vector(
        "sealed-flags-high", "An unknown flag.", .unsupportedFeature,
        [snapshot { $0.flags = 1 | 1 << 31 }]),
      try vector("sealed-journal-first", "No snapshot.", .unsupportedFeature, [journal]),
      try vector(
        "sealed-second-snapshot", "A snapshot after the snapshot.", .unsupportedFeature,
        [snapshot { _ in }, snapshot { _ in }]),
      try vector(
        "sealed-generation", "Generation 2 follows 0.", .malformed,
        [snapshot { $0.generation = 2 }]),
      try vector(
        "sealed-generation-same", "The change has the generation of the snapshot.", .malformed,
        [
          snapshot { _ in },
          {
            var commit = journal
            commit.generation = 1
            return commit
          }(),
        ]),
      try vector(
        "sealed-generation-trailer", "The trailer has another generation.", .malformed,
        [snapshot { $0.trailerGeneration = 2 }]),
      try vector(
        "sealed-generation-overflow", "The base generation is the last one there is.", .malformed,
        [snapshot { _ in }]
      ) { archive in
        archive.replacing = ArchiveVersion(
          generation: .max, mac: [UInt8](repeating: 7, count: 32))
      },
      try vector(
        "sealed-footer-length-0", "A footer of no bytes.", .malformed,
        [snapshot { $0.footerByteCount = 0 }]),
      try vector(
        "sealed-footer-length-less", "The footer begins in itself.", .malformed,
        [snapshot { $0.footerByteCount -= 1 }]),
      try vector(
        "sealed-footer-length-more", "The footer begins in the index.", .malformed,
        [snapshot { $0.footerByteCount += 1 }]),
      try vector(
        "sealed-footer-length-past", "The footer begins before the content.", .malformed,
        [snapshot { $0.footerByteCount = 1000 }]),
      try vector(
        "sealed-footer-length-limit", "A footer of more than 1 MiB.", .limitExceeded,
        [snapshot { $0.footerByteCount = 1 << 20 + 1 }]),
    ]
  }

  private static func frames() throws -> [NewVector] {
    [
      try vector(
        "frame-unknown-odd", "A frame of kind 9.", .unsupportedFeature, .verifying
      ) { $0.order.insert(.raw([9, 1]), at: 1) },
      try vector("frame-kind-255", "A frame of kind 255.", .unsupportedFeature, .verifying) {
        $0.order.insert(.raw([255, 1]), at: 3)
      },
      try vector("frame-length", "A length longer than needed.", .malformed, .verifying) {
        $0.order.insert(.raw([2] + Bytes.varint(0, byteCount: 2)), at: 1)
      },
      try vector("frame-past-end", "A frame that reaches into the footer.", .malformed, .verifying)
      { $0.order.insert(.raw([2] + Bytes.varint(200)), at: 3) },
      try vector("frame-huge", "A frame of 2^64 − 1 bytes.", .malformed, .verifying) {
        $0.order.insert(.raw([2] + Bytes.varint(.max)), at: 3)
      },
      try vector("frame-stray-byte", "One byte between index and footer.", .malformed, .verifying) {
        $0.order.insert(.raw([2]), at: 3)
      },
      try vector(
        "frame-record-not-indexed", "A record that the index does not name.", .malformed, .verifying
      ) {
        $0.order.insert(
          .raw([1] + Bytes.varint(10) + Bytes.integer(9, byteCount: 8) + [0x90, 1]), at: 1)
      },
      try vector("frame-symbols-twice", "Two symbols frames.", .malformed, .verifying) {
        $0.order.insert(.raw([3, 3, 1]), at: 2)
      },
      try vector("frame-index-twice", "Two index frames.", .malformed, .verifying) {
        $0.order.insert(.raw([5, 1]), at: 3)
      },
      try vector("frame-footer-twice", "Two footers.", .malformed, .verifying) {
        $0.order.insert(.raw([7, 1]), at: 3)
      },
      try vector("frame-symbols-first", "Symbols before records.", .malformed, .verifying) {
        $0.order = [.symbols, .records, .index, .footer]
      },
      try vector("frame-index-first", "The index before the symbols.", .malformed, .verifying) {
        $0.order = [.records, .index, .symbols, .footer]
      },
      try vector("frame-no-symbols", "No symbols frame.", .malformed, .opening) {
        $0.order = [.records, .index, .footer]
      },
      try vector(
        "frame-no-index", "No index frame; the footer says that it is empty.", .malformed,
        .verifying
      ) { content in
        content.records = []
        content.order = [.records, .symbols, .footer]
      },
      try vector("frame-after-footer", "A frame after the footer.", .malformed, .opening) {
        $0.order.append(.raw([0, 1]))
      },
    ]
  }

  private static func indices() throws -> [NewVector] {
    let two: [(UInt64, [UInt8])] = [(1, Bytes.map([1])), (2, Bytes.map([2]))]
    func index(
      _ name: String, _ comment: String, _ edit: @escaping (inout [HostileContent.Entry]) -> Void
    ) throws -> NewVector {
      try vector("index-\(name)", comment, .malformed, .verifying) { content in
        content.records = two
        content.editIndex = edit
      }
    }
    return [
      try index("order", "Entries that descend.") { $0.swapAt(0, 1) },
      try index("twice", "An identifier twice.") { $0[1].record = 1 },
      try index("identifier-0", "The identifier 0.") { $0[0].record = 0 },
      try index("identifier", "An identifier that is not the record's.") { $0[1].record = 3 },
      try index("offset", "An offset one too large.") { $0[1].offset += 1 },
      try index("offset-other", "Both entries name one record.") { $0[1].offset = $0[0].offset },
      try index("offset-past", "The largest offset there is.") { $0[1].offset = 1 << 40 - 1 },
      try index("size-less", "A size one too small.") { $0[1].byteCount -= 1 },
      try index("size-more", "A size one too large.") { $0[1].byteCount += 1 },
      try index("size-max", "The largest size there is.") { $0[1].byteCount = 1 << 24 - 1 },
      try index("size-0", "A size of 0 with an offset that is not.") { $0[1].byteCount = 0 },
      try index("removal", "A removed record in a snapshot.") { entries in
        entries.append(HostileContent.Entry(record: 3, offset: 0, byteCount: 0))
      },
      try vector("index-record-short", "A record without its identifier.", .malformed, .verifying) {
        content in
        content.records = []
        content.order.insert(.raw([1, 7, 1, 0, 0]), at: 0)
        content.editIndex = {
          $0 = [HostileContent.Entry(record: 1, offset: 0, byteCount: 3)]
        }
        content.editFooter = { ($0[1], $0[2]) = (1, 3) }
      },
      try vector("index-missing", "A record that the index leaves out.", .malformed, .verifying) {
        content in
        content.records = two
        content.editIndex = { $0.removeLast() }
      },
    ]
  }

  private static func footers() throws -> [NewVector] {
    func footer(
      _ name: String, _ comment: String, _ found: Found = .opening,
      _ edit: @escaping (inout [UInt64]) -> Void
    ) throws -> NewVector {
      try vector("footer-\(name)", comment, .malformed, found) { $0.editFooter = edit }
    }
    func fields(
      _ name: String, _ comment: String, _ code: ArchiveError.Code, _ bytes: [UInt8]
    ) throws -> NewVector {
      try vector("footer-field-\(name)", comment, code) { $0.extensionFields = bytes }
    }
    return [
      try footer("schema", "A schema of 33 bits.") { $0[0] = 1 << 32 },
      try footer("entries-more", "One entry more than the index has.") { $0[1] += 1 },
      try footer("entries-0", "No entries.") { $0[1] = 0 },
      try footer("entries-huge", "2^60 entries, which times 16 is 0.") { numbers in
        (numbers[1], numbers[6]) = (1 << 60, 0)
      },
      try footer("record-bytes", "Other bytes of records.", .verifying) { $0[2] += 1 },
      try footer("record-bytes-past", "More of them than there is content.") { $0[2] = 1000 },
      try footer("symbols-offset", "The symbols are elsewhere.") { $0[3] -= 1 },
      try footer("symbols-size", "The symbols are shorter.") { $0[4] -= 1 },
      try footer("symbols-past", "The symbols end in the footer.") { $0[4] = 1000 },
      try footer("symbols-huge", "The symbols end past 2^64.") { $0[4] = .max },
      try footer("index-offset", "The index is elsewhere.", .verifying) { $0[5] -= 1 },
      try footer("index-size", "The index is shorter than its entries.") { $0[6] -= 1 },
      try footer("index-past", "The index ends in the footer.") { $0[5] += 2 },
      try footer("short", "A number is missing.") { $0.removeLast() },
      try fields(
        "critical", "A field that a reader must know.", .unsupportedFeature, [0, 0x80, 0, 0, 0, 0]),
      try fields("order", "Types that descend.", .malformed, [2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
      try fields("twice", "A type twice.", .malformed, [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
      try fields("past", "A field that ends after the footer.", .malformed, [1, 0, 9, 0, 0, 0, 1]),
      try fields("short", "Half a field.", .malformed, [1, 0, 0]),
      try vector("footer-varint", "A number longer than needed.", .malformed) { content in
        content.records = []
        content.footerPayload = Bytes.varint(0, byteCount: 2) + [1, 1, 5, 11, 19, 1]
      },
      try vector("footer-empty", "A footer without numbers.", .malformed) {
        $0.footerPayload = []
      },
    ]
  }

  private static func symbols() throws -> [NewVector] {
    func symbols(
      _ name: String, _ comment: String, _ bytes: [UInt8],
      expecting code: ArchiveError.Code = .malformed
    ) throws -> NewVector {
      try vector("symbols-\(name)", comment, code) { $0.symbols = bytes }
    }
    return [
      try symbols("twice", "A name twice.", Bytes.table(["a", "b", "a"])),
      NewVector(
        name: "symbols-normalization",
        comment: "A name in two normalizations, which are two names.",
        archive: VectorSealing.bytes(
          sealing: [
            HostileContent { $0.symbols = Bytes.table(["e\u{301}", "\u{e9}"]) }.commit()
          ])),
      try symbols("utf8", "A name that is not UTF-8.", [3, 3, 0xFF]),
      try symbols("fewer", "A name less than counted.", [5, 3, 0x61]),
      try symbols("more", "A byte after the last name.", Bytes.table(["a"]) + [0]),
      try symbols("past", "A name that ends outside.", [3, 19, 0x61]),
      try symbols("empty", "No count.", []),
      try symbols("huge", "2^40 names.", Bytes.varint(1 << 40)),
      try symbols("varint", "A count longer than needed.", Bytes.varint(0, byteCount: 2)),
      try symbols(
        "long", "A name of 1025 bytes.",
        Bytes.table([String(repeating: "x", count: 1025)]), expecting: .limitExceeded),
    ]
  }

  /// What recovery does not forgive, because no crash makes it.
  private static func journals() throws -> [NewVector] {
    func journal(
      _ name: String, _ comment: String, _ code: ArchiveError.Code,
      _ edit: (inout HostileContent) -> Void
    ) throws -> NewVector {
      let change = HostileContent { content in
        content.symbols = Bytes.table([])
        edit(&content)
      }
      return try vector(
        "sealed-journal-\(name)", comment, code,
        [HostileContent().commit(), change.commit(flags: 2)])
    }
    return [
      try journal("symbols", "A name of the snapshot again.", .malformed) {
        $0.symbols = Bytes.table(["b"])
      },
      try journal("changed-and-removed", "A record changed and removed.", .malformed) {
        $0.removed = [1]
      },
      try journal("removal-offset", "A removal with an offset.", .malformed) { content in
        content.removed = [7]
        content.editIndex = { $0[1].offset = 1 }
      },
      try journal("unknown-frame", "A frame of kind 9.", .unsupportedFeature) {
        $0.order.insert(.raw([9, 1]), at: 0)
      },
      try journal("index", "An offset that lies.", .malformed) {
        $0.editIndex = { $0[0].offset = 2 }
      },
      try journal("footer", "A schema of 33 bits.", .malformed) {
        $0.editFooter = { $0[0] = 1 << 32 }
      },
      NewVector(
        name: "sealed-journal-value",
        comment: "A value that is none; records are read when needed.",
        archive: VectorSealing.bytes(
          sealing: [
            HostileContent().commit(),
            HostileContent { content in
              content.symbols = Bytes.table([])
              content.records = [(1, Bytes.map([0xFF]))]
            }.commit(flags: 2),
          ]), verify: "malformed"),
    ]
  }
}
