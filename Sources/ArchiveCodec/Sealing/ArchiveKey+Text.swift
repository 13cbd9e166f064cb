internal import RestorationLibc
internal import CSodium

/// Keys as operators store them: as text in a variable, or as bytes in a file.
extension ArchiveKey {
  /// Characters around a key, as an editor leaves them.
  private static let ignored = " \t\r\n"

  /// Reads a key of 64 hexadecimal digits, or in base64 with or without padding.
  ///
  /// The key goes into guarded memory without another copy.
  ///
  /// - Throws: ``ArchiveError`` with `keyDamaged` for any other text, or
  ///   `cryptographyUnavailable`.
  package convenience init(text: UnsafeRawBufferPointer) throws(ArchiveError) {
    guard let base = text.baseAddress else { throw ArchiveError(.keyDamaged) }
    let characters = unsafe base.assumingMemoryBound(to: CChar.self)
    try self.init(
      unsafe SecretBytes(count: Self.byteCount) { (key) throws(ArchiveError) in
        let key = unsafe key.assumingMemoryBound(to: UInt8.self)
        var count = 0
        if unsafe sodium_hex2bin(
          key, Self.byteCount, characters, text.count, Self.ignored, &count, nil) == 0,
          count == Self.byteCount
        {
          return
        }
        for variant in [
          sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
          sodium_base64_VARIANT_URLSAFE, sodium_base64_VARIANT_URLSAFE_NO_PADDING,
        ] {
          let status = unsafe sodium_base642bin(
            key, Self.byteCount, characters, text.count, Self.ignored, &count, nil, variant)
          if status == 0, count == Self.byteCount { return }
        }
        throw ArchiveError(.keyDamaged)
      })
  }

  /// Reads a file with 32 bytes, a file with a key as text, or a ``KeyFile``; nil if there is none.
  ///
  /// - Throws: ``ArchiveError``: `keyDamaged`, `keyExposed` if everybody may read or
  ///   change the file, and the errors of reading.
  package static func read(fromFile path: String) throws(ArchiveError) -> ArchiveKey? {
    do throws(ArchiveError) {
      guard let file = try OpenFile.existing(path) else { return nil }
      let status = try file.status()
      guard status.st_mode & 0o007 == 0 else { throw ArchiveError(.keyExposed) }
      let count = Int(status.st_size)
      if count == fileByteCount { return try ArchiveKey(readingKeyFile: file) }
      guard (byteCount...largestTextByteCount).contains(count) else {
        throw ArchiveError(.keyDamaged)
      }
      let content = try content(of: file, byteCount: count)
      guard count != byteCount else { return try ArchiveKey(content) }
      return try unsafe content.withBytes { (content) throws(ArchiveError) in
        try unsafe ArchiveKey(text: UnsafeRawBufferPointer(start: content, count: count))
      }
    } catch {
      throw error.located(at: path)
    }
  }

  /// Room for 64 digits and an end of the line.
  private static let largestTextByteCount = 80
}
