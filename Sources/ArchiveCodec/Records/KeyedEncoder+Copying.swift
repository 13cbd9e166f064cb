extension KeyedEncoder {
  /// Copies the value of a key, of any type, from another record.
  ///
  /// Keys and names get the numbers that they have in this archive; everything else is
  /// copied byte for byte. A reference for which `reference` returns nil is left out,
  /// in an array too. If the key is absent, nothing is copied.
  ///
  /// - Parameters:
  ///   - key: The key of the value in the other record.
  ///   - decoder: The other record, or a container of it; of any archive.
  ///   - newKey: The key to write, the same if nil.
  ///   - reference: Takes the identifier that a reference names; returns the
  ///     one to write, or nil to leave the reference out. It may be asked again, and answers alike.
  /// - Throws: ``ArchiveError`` with `limitExceeded` if the value is too large for this
  ///   archive. Then nothing of the value remains.
  /// - Complexity: O(*n*) in the size of the value; no recursion.
  public func copy(
    _ key: String, from decoder: KeyedDecoder, as newKey: String? = nil,
    reference: @escaping (UInt64) -> UInt64? = { $0 }
  ) throws(ArchiveError) {
    guard let value = try decoder.reader(of: key) else { return }
    let copy = ValueCopy(source: decoder, writer: writer, reference: reference)
    guard copy.isKept(value.header) else { return }
    try undoing { () throws(ArchiveError) in
      guard begin(newKey ?? key) else { return }
      do throws(ArchiveError) {
        try copy.copy(value)
      } catch {
        throw error.at(key)
      }
    }
  }

  /// Copies all values of another record, or of a container of it.
  ///
  /// - Parameters:
  ///   - decoder: The other record; of any archive.
  ///   - reference: As for ``copy(_:from:as:reference:)``.
  /// - Throws: As ``copy(_:from:as:reference:)``. The values before that one remain.
  /// - Complexity: O(*n*) in the size of the record; no recursion.
  public func copyAll(
    from decoder: KeyedDecoder, reference: @escaping (UInt64) -> UInt64? = { $0 }
  ) throws(ArchiveError) {
    for key in decoder.keys { try copy(key, from: decoder, reference: reference) }
  }
}

extension KeyedDecoder {
  /// Makes a record in memory from the values that the body encodes.
  ///
  /// - Parameters:
  ///   - limits: The limits of the record.
  ///   - body: Encodes the values.
  /// - Returns: The record.
  /// - Throws: The errors of the body; ``ArchiveError`` with `limitExceeded`.
  package static func encoding(
    limits: ArchiveLimits = .standard, _ body: (KeyedEncoder) throws -> Void
  ) throws -> KeyedDecoder {
    let builder = RecordBuilder(limits: limits)
    try builder.append(record: 1, body)
    let (maps, symbols) = try builder.finish().unsealed
    return try KeyedDecoder(unsealed: maps[0], symbols: symbols, limits: limits)
  }
}
