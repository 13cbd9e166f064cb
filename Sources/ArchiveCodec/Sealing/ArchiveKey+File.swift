internal import CSodium

/// The key file: magic, key, checksum. The key itself goes straight from
/// guarded memory to the descriptor and back.
extension ArchiveKey {
  private static let fileMagic: [UInt8] = [0x89, 0x52, 0x4B, 0x4B, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let checksumByteCount = 8
  private static let keyRange = fileMagic.count..<fileMagic.count + byteCount

  static let fileByteCount = keyRange.upperBound + checksumByteCount

  func write(to file: borrowing OpenFile) throws(ArchiveError) {
    let image = try unsafe SecretBytes(count: Self.fileByteCount) { image in
      let key = unsafe image + Self.keyRange.lowerBound
      unsafe image.copyMemory(from: Self.fileMagic, byteCount: Self.fileMagic.count)
      unsafe secret.withBytes { unsafe key.copyMemory(from: $0, byteCount: Self.byteCount) }
      unsafe (image + Self.keyRange.upperBound).copyMemory(
        from: Self.fileChecksum(UnsafeRawPointer(key)), byteCount: Self.checksumByteCount)
    }
    try unsafe image.withBytes { (bytes) throws(ArchiveError) in
      let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: Self.fileByteCount)
      try unsafe OpenFile.write(buffer, at: 0, of: file.descriptor)
    }
  }

  convenience init(readingKeyFile file: borrowing OpenFile) throws(ArchiveError) {
    let image = try Self.content(of: file, byteCount: Self.fileByteCount)
    let key = try unsafe image.withBytes { (image) throws(ArchiveError) in
      let bytes = unsafe UnsafeRawBufferPointer(start: image, count: Self.fileByteCount)
      let key = unsafe image + Self.keyRange.lowerBound
      guard unsafe bytes.starts(with: Self.fileMagic),
        unsafe bytes[Self.keyRange.upperBound...].elementsEqual(Self.fileChecksum(key))
      else { throw ArchiveError(.keyDamaged) }
      return try unsafe SecretBytes(copying: key, count: Self.byteCount)
    }
    try self.init(key)
  }

  /// The bytes of a file that has a key.
  static func content(
    of file: borrowing OpenFile, byteCount: Int
  ) throws(ArchiveError) -> SecretBytes {
    try unsafe SecretBytes(count: byteCount) { (content) throws(ArchiveError) in
      let buffer = unsafe UnsafeMutableRawBufferPointer(start: content, count: byteCount)
      guard try unsafe file.read(into: buffer, at: 0) == byteCount else {
        throw ArchiveError(.keyDamaged)
      }
    }
  }

  /// Tells a damaged key file from a wrong key.
  private static func fileChecksum(_ key: UnsafeRawPointer) -> [UInt8] {
    let hash = unsafe KeyDerivation.checksum.derivePublic(
      count: 32, key: key, input: fileMagic.span)
    return Array(hash[..<checksumByteCount])
  }
}
