import ArchiveCodec
import ArchiveForge

/// Any bytes as a file, as they are and with a header checksum that fits.
///
/// What opens and verifies begins as one of the archives that were written
/// with the key; without anything dropped, it is one of their states.
enum OpenTarget {
  static func run(_ input: [UInt8]) throws(Finding) {
    for bytes in [input, withFittingChecksum(input)] {
      for recovery in [ArchiveRecovery.strict, .recover] {
        guard let archive = opened(bytes, recovery) else { continue }
        try promise(archive.dropped == nil || recovery == .recover, "strict, but dropped something")
        try promise(
          isWritten(bytes, isWhole: archive.dropped == nil), "\(bytes.count) forged bytes open")
      }
    }
  }

  private static func opened(_ bytes: [UInt8], _ recovery: ArchiveRecovery) -> Archive? {
    do {
      let archive = try Archive.open(
        MemoryStorage(bytes), key: FuzzArchive.key, context: FuzzArchive.context,
        recovery: recovery)
      for record in try archive?.recordIdentifiers() ?? [] { _ = try archive?.record(record) }
      try archive?.verifyAll()
      return archive
    } catch {
      return nil
    }
  }

  private static let written = (try? FuzzArchive.all) ?? []

  private static func isWritten(_ bytes: [UInt8], isWhole: Bool) -> Bool {
    written.contains { archive in
      isWhole
        ? archive.ends.contains(bytes.count) && archive.bytes.starts(with: bytes)
        : bytes.starts(with: archive.bytes[..<archive.ends[0]])
    }
  }

  /// Makes the checksum fit, as anybody can, so that the fields are looked at.
  private static func withFittingChecksum(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 160 else { return bytes }
    return bytes.withFittingChecksum()
  }
}
