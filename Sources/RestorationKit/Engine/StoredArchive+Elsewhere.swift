package import ArchiveCodec
package import RestorationFoundation

/// Reads an archive of the state that is stored elsewhere.
extension StoredArchive {
  /// The machine that saved an archive, and when; nil if the archive does not say.
  ///
  /// - Throws: Why the archive cannot be read.
  package func savedBy(
    _ bytes: [UInt8]
  ) throws(ArchiveError) -> (deviceName: String?, date: Date?)? {
    guard let archive = try opener.open(MemoryStorage(bytes), recovery: .recover),
      let values = try archive.record(NodeRecord.application)?
        .container(forKey: NodeRecord.factsKey)
    else { return nil }
    let facts = try SaveFacts(values, of: archive)
    return (facts.deviceName, facts.timestamp)
  }

  /// The host values in an archive; nil also if they cannot be read.
  package func hostPart(of bytes: [UInt8]) -> StateFile.HostPart? {
    do throws(ArchiveError) {
      guard let archive = try opener.open(MemoryStorage(bytes), recovery: .recover),
        let values = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.hostKey)
      else { return nil }
      return StateFile.HostPart(
        values: values, contents: [:], savedAt: nil, version: archive.version,
        byteCount: bytes.count)
    } catch {
      return nil
    }
  }
}
