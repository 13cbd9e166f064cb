import ArchiveCodec
import ArchiveForge

/// The header of an archive with one slot.
enum VectorHeader {
  static let byteCount = 288

  /// Puts bytes into the header and makes its checksum fit again.
  static func replacing(
    _ range: Range<Int>, of archive: [UInt8], with new: [UInt8], slotCount: Int = 1
  ) -> [UInt8] {
    var changed = archive
    changed.replaceSubrange(range, with: new)
    changed.replaceSubrange(32..<40, with: [UInt8](repeating: 0, count: 8))
    let checksum = Derivation.derive("RKA1 checksum", Array(changed[..<(160 + 128 * slotCount)]))
    changed.replaceSubrange(32..<40, with: checksum[..<8])
    return changed
  }

  /// Changes the lowest bit of a byte in the header, with a checksum that fits.
  static func flipping(_ offset: Int, of archive: [UInt8]) -> [UInt8] {
    replacing(offset..<offset + 1, of: archive, with: [archive[offset] ^ 1])
  }
}

extension [UInt8] {
  func flipping(_ offset: Int, bit: UInt8 = 0) -> [UInt8] {
    var changed = self
    changed[offset] ^= 1 << bit
    return changed
  }
}
