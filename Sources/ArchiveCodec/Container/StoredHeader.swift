/// The header of a file that is being opened, with its bytes.
struct StoredHeader: Sendable {
  let header: Header
  /// Whether this library knows all features that a writer must know.
  let isWritable: Bool
  /// The bytes that the MAC covers, with zeros in place of the checksum.
  let authenticatedBytes: [UInt8]
  let mac: [UInt8]

  /// Reads a header and checks as much as possible without a key.
  ///
  /// The version is checked before the checksum, because a newer version may have its
  /// checksum elsewhere.
  init(reading file: any ArchiveFile) throws(ArchiveError) {
    // Most headers have one slot, and are read at once.
    let start = try file.read(at: 0, count: min(file.byteCount, Header.byteCount(slotCount: 1)))
    let magic = start.prefix(Header.magic.count)
    guard Header.magic.starts(with: magic) else { throw ArchiveError(.notAnArchive, offset: 0) }
    guard start.count >= 12 else { throw ArchiveError(.truncated, offset: start.count) }
    guard start[8] == Header.majorVersion else {
      throw ArchiveError(.unsupportedVersion, offset: 8, subject: "version \(start[8])")
    }
    guard start.count >= Header.fixedByteCount else {
      throw ArchiveError(.truncated, offset: start.count)
    }
    let slotCount = Int(start[26])
    let byteCount = Int(start[10]) | Int(start[11]) << 8
    guard Header.slotCounts.contains(slotCount), byteCount == Header.byteCount(slotCount: slotCount)
    else { throw ArchiveError(.damaged, offset: 10, subject: "header") }
    guard file.byteCount >= byteCount else {
      throw ArchiveError(.truncated, offset: file.byteCount)
    }
    try self.init(
      decoding: slotCount == 1 ? start : try file.read(at: 0, count: byteCount),
      slotCount: slotCount)
  }

  private init(decoding bytes: [UInt8], slotCount: Int) throws(ArchiveError) {
    var cleared = bytes
    for place in Header.checksumRange { cleared[place] = 0 }
    guard bytes[Header.checksumRange].elementsEqual(Header.checksum(of: cleared)) else {
      throw ArchiveError(.damaged, offset: Header.checksumRange.lowerBound, subject: "header")
    }
    cleared.removeLast(Header.macByteCount)
    authenticatedBytes = cleared
    mac = Array(bytes.suffix(Header.macByteCount))

    guard bytes.span.littleEndian(12..<16) == 0 else {
      throw ArchiveError(.unsupportedFeature, offset: 12, subject: "required feature")
    }
    isWritable = bytes.span.littleEndian(16..<20) == 0
    guard bytes[24] == Header.suite else {
      throw ArchiveError(.unsupportedFeature, offset: 24, subject: "cipher suite")
    }
    guard Header.chunkSizes.contains(bytes[25]) else {
      throw ArchiveError(.unsupportedFeature, offset: 25, subject: "chunk size")
    }
    func checkReserved(_ range: Range<Int>) throws(ArchiveError) {
      guard bytes[range].allSatisfy({ $0 == 0 }) else {
        throw ArchiveError(.unsupportedFeature, offset: range.lowerBound, subject: "header")
      }
    }
    try checkReserved(Header.reservedRange)
    try checkReserved(Header.secondReservedRange)
    var header = Header(
      chunkSize: bytes[25], archiveID: Array(bytes[40..<56]), fileSalt: Array(bytes[56..<72]),
      baseGeneration: bytes.span.littleEndian(72..<80), predecessorMAC: Array(bytes[80..<112]),
      minorVersion: bytes[9], optionalFeatures: UInt32(bytes.span.littleEndian(20..<24)))
    for number in 0..<slotCount {
      let start = Header.fixedByteCount + number * ArchiveSlot.byteCount
      header.slots.append(
        try ArchiveSlot(Array(bytes[start..<start + ArchiveSlot.byteCount]), at: start))
    }
    self.header = header
  }
}
