/// The parts of a header, by their places in the specification.
extension [UInt8] {
  package var headerByteCount: Int { Int(self[10]) | Int(self[11]) << 8 }

  package var body: [UInt8] { Array(self[headerByteCount...]) }

  /// The slots of a header, 128 bytes each.
  package var slots: [[UInt8]] {
    (0..<Int(self[26])).map { Array(self[128 + $0 * 128..<256 + $0 * 128]) }
  }

  package func replacing(_ range: Range<Int>, with new: [UInt8]) -> [UInt8] {
    var changed = self
    changed.replaceSubrange(range, with: new)
    return changed
  }

  /// Puts other slots into the header; everything but its MAC fits again.
  package func withSlots(_ slots: [[UInt8]]) -> [UInt8] {
    let byteCount = 160 + 128 * slots.count
    return replacing(128..<headerByteCount - 32, with: Array(slots.joined()))
      .replacing(10..<12, with: [UInt8(byteCount & 255), UInt8(byteCount >> 8)])
      .replacing(26..<27, with: [UInt8(slots.count)])
      .withFittingChecksum()
  }

  /// Makes the checksum of a changed header fit, as anybody can.
  package func withFittingChecksum() -> [UInt8] {
    let cleared = replacing(32..<40, with: [UInt8](repeating: 0, count: 8))
    let header = cleared[..<Swift.min(headerByteCount, count)]
    return replacing(32..<40, with: Array(Derivation.derive("RKA1 checksum", Array(header))[..<8]))
  }

  /// Makes the MAC of a changed header fit too, as only the data key can.
  package func withFittingMAC(dataKey: [UInt8], context: [String]) -> [UInt8] {
    let keys = FileKeys(dataKey: dataKey, header: self, context: context)
    let end = headerByteCount - 32
    let cleared = replacing(32..<40, with: [UInt8](repeating: 0, count: 8))
    return replacing(end..<end + 32, with: keys.headerMAC(Array(cleared[..<end])))
      .withFittingChecksum()
  }
}
