import ArchiveCodec
import ArchiveForge
import XCTest

/// Commits, chunks and journals that somebody without the key changed.
enum CommitVectors {
  static func all() throws -> [NewVector] {
    try ends() + commits() + chunks() + journals()
  }

  private static func vector(
    _ name: String, _ comment: String, _ expect: ArchiveError.Code, _ archive: [UInt8]
  ) -> NewVector {
    NewVector(name: name, comment: comment, archive: archive, expect: "\(expect)")
  }

  /// Refused strictly; recovered without what follows the damage.
  private static func torn(
    _ name: String, _ comment: String, _ expect: ArchiveError.Code, _ archive: [UInt8]
  ) -> NewVector {
    NewVector(
      name: name, comment: comment, archive: archive, expect: "\(expect)",
      recover: "opens, dropping \(expect)")
  }

  private static func ends() throws -> [NewVector] {
    let small = try VectorSealing.small()
    func truncated(_ name: String, _ comment: String, _ count: Int) -> NewVector {
      vector("snapshot-truncated-\(name)", comment, .truncated, Array(small[..<count]))
    }
    return [
      truncated("header", "The header alone.", 288),
      truncated("commit-header", "Ends in the commit header.", 319),
      truncated("chunk-length", "Ends in a chunk's length.", 322),
      truncated("chunk", "Ends in a chunk.", small.count - 65),
      truncated("trailer", "Ends before the trailer.", small.count - 64),
      truncated("mac", "The last byte is missing.", small.count - 1),
      torn("tail-byte", "One byte too many, as of a torn change.", .truncated, small + [0]),
      torn("tail-zeros", "64 zeros too many.", .damaged, small + [UInt8](repeating: 0, count: 64)),
      torn("tail-trailer", "The trailer twice.", .damaged, small + small.suffix(64)),
      torn("tail-commit", "The snapshot twice.", .damaged, small + small[288...]),
      torn("tail-archive", "The archive twice.", .damaged, small + small),
    ]
  }

  private static func commits() throws -> [NewVector] {
    let small = try VectorSealing.small()
    let trailer = small.count - 64
    func flip(_ name: String, _ comment: String, _ offset: Int) -> NewVector {
      vector("commit-\(name)", comment, .damaged, small.flipping(offset))
    }
    return [
      flip("magic", "The magic of the commit.", 288),
      flip("flags", "The flags say neither snapshot nor journal.", 292),
      flip("generation", "The generation of the commit header.", 296),
      flip("salt", "The salt.", 304),
      vector(
        "commit-chunk-length", "The only chunk is a byte longer than there are.", .truncated,
        small.flipping(320)),
      vector(
        "commit-chunk-length-huge", "The only chunk is longer than any may be.", .damaged,
        small.flipping(322)),
      vector(
        "commit-chunk-not-last", "The last chunk does not say so.", .damaged,
        small.flipping(323, bit: 7)),
      flip("chunk-ciphertext", "The first byte of the chunk.", 324),
      flip("chunk-tag", "The last byte of its tag.", trailer - 1),
      flip("trailer-magic", "The magic of the trailer.", trailer),
      flip("trailer-footer-length", "The length of the footer.", trailer + 4),
      flip("trailer-generation", "The generation of the trailer.", trailer + 8),
      flip("trailer-length", "The length of the commit.", trailer + 16),
      vector(
        "commit-trailer-length-huge", "The length of the commit has its highest bit.", .damaged,
        small.flipping(trailer + 23, bit: 7)),
      flip("trailer-zeros", "The zeros of the trailer.", trailer + 24),
      flip("trailer-mac", "The chain MAC.", trailer + 32),
      vector(
        "commit-of-another-archive", "The body of another archive of the same key.", .damaged,
        Array(small[..<288]) + (try VectorSealing.small(seed: 9))[288...]),
    ]
  }

  /// An archive of three chunks of 4 KiB.
  private static func chunks() throws -> [NewVector] {
    let text = [0xAA] + HostileContent.varint(9000) + [UInt8](repeating: 0x78, count: 9000)
    let archive = VectorSealing.bytes(
      sealing: [HostileContent { $0.records = [(1, HostileContent.map(text))] }.commit()]
    ) { $0.chunkSize = 12 }
    let (first, frame) = (320, 4 + 4096 + 16)
    let (second, third) = (first + frame, first + 2 * frame)
    func vector(
      _ name: String, _ comment: String, opensFirst: Bool, _ archive: [UInt8]
    ) -> NewVector {
      NewVector(
        name: "chunks-\(name)", comment: comment, archive: archive,
        expect: opensFirst ? "opens" : "damaged", verify: opensFirst ? "damaged" : nil)
    }
    return [
      vector(
        "first-changed", "One bit of a chunk that opening does not read.", opensFirst: true,
        archive.flipping(first + 100)),
      vector(
        "first-length", "The length of such a chunk.", opensFirst: true, archive.flipping(first)),
      vector(
        "first-last", "A chunk in the middle says that it is the last.", opensFirst: true,
        archive.flipping(first + 3, bit: 7)),
      vector(
        "last-changed", "One bit of the last chunk.", opensFirst: false,
        archive.flipping(third + 4)),
      vector(
        "swapped", "The first two in the other order.", opensFirst: true,
        Array(
          archive[..<first] + archive[second..<third] + archive[first..<second] + archive[third...])
      ),
      vector(
        "removed", "The first one is missing.", opensFirst: false,
        Array(archive[..<first] + archive[second...])),
      vector(
        "doubled", "The first one twice.", opensFirst: false,
        Array(archive[..<second] + archive[first...])),
    ]
  }

  private static func journals() throws -> [NewVector] {
    let journal = try VectorJournal()
    let sibling = try VectorJournal(forkSeed: 20)
    let (bytes, ends) = (journal.bytes, journal.ends)
    func of(_ commits: ArraySlice<UInt8>...) -> [UInt8] {
      Array(journal.header) + commits.joined()
    }
    let (snapshot, one, two, three) = (
      journal.commit(0), journal.commit(1), journal.commit(2), journal.commit(3)
    )
    return [
      torn(
        "journal-torn-header", "The last change ends in its header.", .truncated,
        Array(bytes[..<(ends[2] + 31)])),
      torn(
        "journal-torn-chunk", "The last change ends in its chunk.", .truncated,
        Array(bytes[..<(ends[3] - 65)])),
      torn(
        "journal-torn-trailer", "The last change ends in its trailer.", .truncated,
        Array(bytes[..<(ends[3] - 1)])),
      torn(
        "journal-torn-zeros", "The length of the last change is there, its bytes are zeros.",
        .damaged, Array(bytes[..<ends[2]]) + [UInt8](repeating: 0, count: three.count)),
      torn(
        "journal-torn-second-half", "The second half of the last change is zeros.", .damaged,
        Array(bytes[..<(ends[3] - 100)]) + [UInt8](repeating: 0, count: 100)),
      torn(
        "journal-torn-middle", "A byte of the last chunk is lost; its trailer is there.",
        .damaged, bytes.flipping(ends[2] + 40)),
      torn(
        "journal-changed-first", "A chunk of the first change; two whole ones follow.", .damaged,
        bytes.flipping(ends[0] + 40)),
      torn(
        "journal-trailer-length", "The last trailer names a length that leads nowhere.", .damaged,
        bytes.flipping(ends[3] - 64 + 16)),
      torn("journal-removed", "The first change is missing.", .damaged, of(snapshot, two, three)),
      torn("journal-swapped", "Two changes swapped.", .damaged, of(snapshot, one, three, two)),
      torn("journal-repeated", "A change twice.", .damaged, of(snapshot, one, one, two, three)),
      torn(
        "journal-sibling", "The last change of a sibling with the same parent, later apart.",
        .damaged, of(snapshot, one, two, sibling.commit(3))),
      torn(
        "journal-sibling-parent", "A change of a sibling, then ours.", .damaged,
        of(snapshot, one, sibling.commit(2), three)),
      torn(
        "journal-sibling-mac", "Our last change under the chain MAC of the sibling's.", .damaged,
        of(snapshot, one, two, three.dropLast(32), sibling.commit(3).suffix(32))),
      vector("journal-without-snapshot", "Changes only.", .damaged, of(one, two, three)),
      vector(
        "journal-snapshot-changed", "The trailer of the snapshot; recovery does not help.",
        .damaged, bytes.flipping(ends[0] - 1)),
      NewVector(
        name: "journal-cut", comment: "Whole changes cut off: an older state, which opens.",
        archive: Array(bytes[..<ends[1]])),
    ]
  }
}
