/// The values of one record, sealed with a key and nothing else; see ``SealedBytes``.
///
/// An archive has keys, a chain and a journal of its own, and takes ten times as long to make. This
/// is for a few values that are written anew at each launch.
///
///     plaintext = size of the names, 4 bytes, little-endian ‖ names ‖ map
///
/// The names and the map are those of a symbols frame and of a record.
package enum SealedRecord {
  /// Whether bytes begin as a sealed record does.
  package static func isBeginning(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: SealedBytes.magic)
  }

  /// Seals the values that a body encodes.
  ///
  /// - Throws: The errors of `body`; as ``RecordBuilder/append(record:_:)``, and
  ///   `cryptographyUnavailable`.
  package static func seal(
    key: ArchiveKey, context: ArchiveContext, random: RandomSource = .system,
    limits: ArchiveLimits = .standard, _ body: (KeyedEncoder) throws -> Void
  ) throws -> [UInt8] {
    let builder = RecordBuilder(limits: limits)
    try builder.append(record: 1, body)
    let (maps, names) = try builder.finish().unsealed
    let plaintext = ByteBuffer()
    plaintext.writeInteger(UInt32(truncatingIfNeeded: names.count))
    plaintext.write(names)
    plaintext.write(maps[0])
    return try SealedBytes.seal(plaintext.bytes, key, context, random)
  }

  /// Opens a sealed record; bytes behind it do not count.
  ///
  /// - Returns: The values, and the size of the record in bytes.
  /// - Throws: ``ArchiveError``: `notAnArchive`, `truncated`; `damaged` if a bit was changed,
  ///   or if another key sealed it, or the same one for another context; `malformed` or
  ///   `limitExceeded` if the record breaks a rule, and `cryptographyUnavailable`.
  package static func open(
    _ bytes: [UInt8], key: ArchiveKey, context: ArchiveContext, limits: ArchiveLimits = .standard
  ) throws(ArchiveError) -> (values: KeyedDecoder, byteCount: Int) {
    let (plaintext, byteCount) = try SealedBytes.open(bytes, key, context)
    var reader = ByteCursor(plaintext.span, over: plaintext.indices)
    let nameByteCount = Int(try reader.readLowBytes(plaintext.span, count: 4))
    let names = Array(plaintext[try reader.readRange(count: nameByteCount)])
    var symbols = SymbolTable()
    try symbols.append(decoding: names, limits: limits)
    let values = try KeyedDecoder(
      validating: plaintext, from: reader.offset, symbols: symbols, limits: limits)
    return (values, byteCount)
  }
}
