package import ArchiveCodec

/// An archive that is sealed as it is given, well formed or not.
///
/// So a test can play somebody who has the key and seals what he likes: all
/// that a key authenticates is authentic, and any of it may be a lie.
///
/// It is a second writer, made from the specification and libsodium alone, so
/// that a mistake of the library is not made here again.
package struct UncheckedArchive {
  /// One commit; a number that is nil is the right one.
  package struct Commit {
    package var flags: UInt32
    package var generation: UInt64?
    package var trailerGeneration: UInt64?
    package var footerByteCount: UInt32
    package var content: [UInt8]
    /// What the salt depends on besides random bytes; nil for the content.
    package var witness: [UInt8]?

    package init(flags: UInt32, content: [UInt8], footerByteCount: Int) {
      self.flags = flags
      self.content = content
      self.footerByteCount = UInt32(footerByteCount)
    }
  }

  package var chunkSize: UInt8 = 14
  package var replacing: ArchiveVersion?
  /// Changes what the header MAC covers, before the MAC is made.
  package var editHeader: (inout [UInt8]) -> Void = { _ in }
  package var commits: [Commit]

  package init(_ commits: [Commit]) {
    self.commits = commits
  }

  /// Seals all of it, under a random data key.
  ///
  /// - Parameters:
  ///   - key: The master key, 32 bytes.
  ///   - context: The fields of the context.
  ///   - random: Where the identifier, the salts and the data key come from, in
  ///     the order in which the library takes them.
  /// - Returns: The bytes of the file.
  package func sealed(key: [UInt8], context: [String], random: RandomSource) -> [UInt8] {
    var bytes = startOfHeader(random)
    let dataKey = random.bytes(count: 32)
    bytes += slot(
      key: key, wrapping: dataKey, binding: bytes[40..<56] + [1, 1], context: context,
      random: random)
    let keys = FileKeys(dataKey: dataKey, header: bytes, context: context)
    editHeader(&bytes)
    bytes += keys.headerMAC(bytes)
    bytes.replaceSubrange(32..<40, with: Derivation.derive("RKA1 checksum", bytes)[..<8])
    var generation = replacing?.generation ?? 0
    var mac = keys.genesis
    for commit in commits {
      generation = commit.generation ?? (generation &+ 1)
      bytes += seal(commit, generation, previousMAC: &mac, keys, random)
    }
    return bytes
  }

  /// The 128 bytes before the slots, with zeros for the checksum.
  private func startOfHeader(_ random: RandomSource) -> [UInt8] {
    let zeros = [UInt8](repeating: 0, count: 32)
    var bytes: [UInt8] = [0x89, 0x52, 0x4B, 0x41, 0x0D, 0x0A, 0x1A, 0x0A, 1, 0]
    bytes += ModelValue.little(288, count: 2) + zeros[..<12]
    bytes += [1, chunkSize, 1] + zeros[..<5] + zeros[..<8]
    bytes += random.bytes(count: 16)
    bytes += random.bytes(count: 16)
    bytes += ModelValue.little(replacing?.generation ?? 0, count: 8)
    bytes += replacing?.mac ?? zeros
    return bytes + zeros[..<16]
  }

  /// A slot for a raw key, without a reference.
  private func slot(
    key: [UInt8], wrapping dataKey: [UInt8], binding: [UInt8], context: [String],
    random: RandomSource
  ) -> [UInt8] {
    let parameters = [1] + [UInt8](repeating: 0, count: 11)
    let salt = random.bytes(count: 16)
    let keys = Derivation.derive(
      "RKA1 slot", key: key, salt: salt, binding + parameters + Derivation.context(context),
      count: 64)
    let box = Derivation.box(
      dataKey, key: Array(keys[..<32]), nonce: [UInt8](repeating: 0, count: 12))
    let slot = parameters + salt + [UInt8](repeating: 0, count: 8) + keys[32...] + box
    let keyCheck = Derivation.derive("RKA1 key check", key: key, salt: salt, binding + slot)
    return slot + keyCheck[..<8] + [0, 0, 0, 0]
  }

  private func seal(
    _ commit: Commit, _ generation: UInt64, previousMAC mac: inout [UInt8], _ keys: FileKeys,
    _ random: RandomSource
  ) -> [UInt8] {
    let salt = keys.salt(
      random: random.bytes(count: 32), previousMAC: mac, generation: generation,
      witness: commit.witness ?? commit.content)
    let header =
      Array("RKAc".utf8) + ModelValue.little(UInt64(commit.flags), count: 4)
      + ModelValue.little(generation, count: 8) + salt
    let key = keys.commitKey(
      salt: salt, generation: generation, flags: commit.flags, previousMAC: mac)
    var bytes = header
    for (number, start) in stride(from: 0, to: commit.content.count, by: 1 << Int(chunkSize))
      .enumerated()
    {
      let end = min(start + 1 << Int(chunkSize), commit.content.count)
      let last: UInt64 = end == commit.content.count ? 1 : 0
      let nonce = ModelValue.little(UInt64(number), count: 8) + ModelValue.little(last, count: 4)
      let box = Derivation.box(Array(commit.content[start..<end]), key: key, nonce: nonce)
      bytes += ModelValue.little(UInt64(box.count) | last << 31, count: 4) + box
    }
    let trailer =
      Array("RKAt".utf8) + ModelValue.little(UInt64(commit.footerByteCount), count: 4)
      + ModelValue.little(commit.trailerGeneration ?? generation, count: 8)
      + ModelValue.little(UInt64(bytes.count + 64), count: 8) + [UInt8](repeating: 0, count: 8)
    mac = keys.chainMAC(salt: salt, header: header, trailer: trailer, previousMAC: mac)
    return bytes + trailer + mac
  }
}
