/// An archive that is sealed as it is given, well formed or not.
///
/// So a test can play somebody who has the key and seals what he likes: all
/// that a key authenticates is authentic, and any of it may be a lie.
package struct UncheckedArchive {
  /// One commit; a number that is nil is the right one.
  package struct Commit {
    package var flags: UInt32
    package var generation: UInt64?
    package var trailerGeneration: UInt64?
    package var footerByteCount: UInt32
    package var content: [UInt8]

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
  package func sealed(
    key: ArchiveKey, context: ArchiveContext, random: RandomSource
  ) throws(ArchiveError) -> [UInt8] {
    var header = Header(
      chunkSize: chunkSize, archiveID: random.bytes(count: 16), fileSalt: random.bytes(count: 16),
      baseGeneration: replacing?.generation ?? 0,
      predecessorMAC: replacing?.mac ?? [UInt8](repeating: 0, count: 32))
    let dataKey = try SecretBytes(random, count: ArchiveKey.byteCount)
    header.slots = [
      try KeySlot(
        .key(key), wrapping: dataKey, binding: header.slotBinding(context), random: random)
    ]
    let keys = try KeySchedule(
      dataKey: dataKey, fileSalt: header.fileSalt, head: header.head, context: context)
    var bytes = header.authenticatedBytes
    editHeader(&bytes)
    bytes += keys.headerMAC(bytes)
    bytes.replaceSubrange(Header.checksumRange, with: Header.checksum(of: bytes))
    var version = ArchiveVersion(generation: header.baseGeneration, mac: keys.genesis)
    for commit in commits {
      let sealed = try seal(commit, after: &version, keys: keys, random: random)
      bytes += sealed
    }
    return bytes
  }

  private func seal(
    _ commit: Commit, after version: inout ArchiveVersion, keys: borrowing KeySchedule,
    random: RandomSource
  ) throws(ArchiveError) -> [UInt8] {
    let generation = commit.generation ?? (version.generation &+ 1)
    let header = CommitHeader(
      flags: commit.flags, generation: generation,
      salt: keys.commitSalt(
        random: random, previousMAC: version.mac, generation: generation, witness: commit.content))
    let cipher = ChunkCipher(try keys.commitKey(header, previousMAC: version.mac))
    var bytes = header.encoded
    let size = 1 << Int(chunkSize)
    for start in stride(from: 0, to: commit.content.count, by: size) {
      let end = min(start + size, commit.content.count)
      let isLast = end == commit.content.count
      var frame = ChunkFrame(chunkByteCount: size)
      frame.append(commit.content[start..<end])
      frame.seal(with: cipher, number: UInt64(start / size), isLast: isLast)
      bytes += frame.bytes
    }
    var trailer = Trailer(
      footerByteCount: commit.footerByteCount, generation: commit.trailerGeneration ?? generation,
      commitByteCount: UInt64(bytes.count + Trailer.byteCount), mac: [])
    trailer.mac = keys.chainMAC(header, trailer, previousMAC: version.mac)
    version = ArchiveVersion(generation: generation, mac: trailer.mac)
    return bytes + trailer.encoded
  }
}
