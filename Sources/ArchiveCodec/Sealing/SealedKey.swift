internal import CSodium

/// A key that is sealed under another key, to be stored where many can see it.
///
///     0    8    magic
///     8    16   identifier, random
///     24   128  a key slot, as in an archive, with the key in place of the data key
///     152  8    checksum of all before it
///
/// The slot is bound to the identifier and to a context, and not to an archive: no archive
/// opens with it. The checksum has no key; it tells damage from another master key.
package struct SealedKey: Sendable {
  package static let byteCount = 160

  private static let magic: [UInt8] = [0x89, 0x52, 0x4B, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let identifierRange = 8..<24
  private static let checksumOffset = 152

  /// All bytes of the sealed key.
  package let bytes: [UInt8]
  private let identifier: [UInt8]
  private let slot: ArchiveSlot

  /// Seals a key under another one.
  package init(
    _ key: ArchiveKey, under master: ArchiveKey, context: ArchiveContext,
    random: RandomSource = .system
  ) throws(ArchiveError) {
    identifier = random.bytes(count: Self.identifierRange.count)
    slot = try ArchiveSlot(
      .key(master), wrapping: key.secret, binding: Self.binding(identifier, context),
      random: random)
    let content = Self.magic + identifier + slot.encoded
    bytes = content + Self.checksum(content)
  }

  /// Reads a sealed key.
  ///
  /// - Throws: ``ArchiveError`` with `keyDamaged`.
  package init(_ bytes: [UInt8]) throws(ArchiveError) {
    let content = Array(bytes.prefix(Self.checksumOffset))
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic),
      Array(bytes[Self.checksumOffset...]) == Self.checksum(content)
    else { throw ArchiveError(.keyDamaged) }
    self.bytes = bytes
    identifier = Array(bytes[Self.identifierRange])
    let start = Self.identifierRange.upperBound
    do throws(ArchiveError) {
      slot = try ArchiveSlot(Array(content[start...]), at: start)
    } catch {
      throw ArchiveError(.keyDamaged)
    }
    guard slot.kind == .key else { throw ArchiveError(.keyDamaged) }
  }

  /// The key, in a page that it shares with others; nil if it is sealed under another master key.
  ///
  /// - Throws: ``ArchiveError`` with `wrongContext` if the key belongs to another
  ///   context.
  package func open(
    with master: ArchiveKey, context: ArchiveContext
  ) throws(ArchiveError) -> ArchiveKey? {
    switch try slot.open(.key(master), Self.binding(identifier, context)) {
    case .dataKey(let key): return try ArchiveKey(packing: key)
    case .otherContext: throw ArchiveError(.wrongContext)
    case .otherCredential: return nil
    }
  }

  /// The binding.
  ///
  /// It is longer than that of an archive, so that no slot of one fits the other.
  private static func binding(
    _ identifier: [UInt8], _ context: ArchiveContext
  ) -> ArchiveSlot.Binding {
    ArchiveSlot.Binding(archive: identifier + Array("sealed key".utf8), context: context)
  }

  private static func checksum(_ content: [UInt8]) -> [UInt8] {
    Array(KeyDerivation.sealedKey.hash(content.span)[..<8])
  }
}

extension ArchiveKey {
  /// A name that reveals nothing of another one without the key, in 64 hexadecimal digits.
  package func hiddenName(of name: String) -> String {
    let bytes = unsafe secret.withBytes { key in
      unsafe KeyDerivation.hiddenName.derivePublic(
        count: 32, key: key, input: Array(name.utf8).span)
    }
    return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The MAC of bytes that are no archive, in 32 bytes: nobody can make it without the key.
  package func tag(of bytes: [UInt8], context: ArchiveContext) -> [UInt8] {
    unsafe secret.withBytes { key in
      unsafe KeyDerivation.noteTag.derivePublic(
        count: 32, key: key, input: (context.hash + bytes).span)
    }
  }

  /// Whether a tag is that of the bytes.
  ///
  /// The time of the comparison does not tell where they differ.
  package func isTag(_ tag: [UInt8], of bytes: [UInt8], context: ArchiveContext) -> Bool {
    isEqualInConstantTime(tag, self.tag(of: bytes, context: context))
  }
}
