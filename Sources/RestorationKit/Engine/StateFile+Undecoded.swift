internal import ArchiveCodec

/// Keeps states that the app could not decode, before another state takes their place.
extension StateFile {
  /// Leaves out states that an earlier launch has set aside already, so that a state that never
  /// decodes is not set aside by each launch.
  ///
  /// - Complexity: O(*n*) in the bytes of the states that were set aside as undecoded; nothing is
  ///   read if all states could be decoded.
  func withoutSetAside(_ settingAside: SettingAside) async -> SettingAside {
    guard !settingAside.undecoded.isEmpty else { return settingAside }
    var rest = settingAside
    do throws(ArchiveError) {
      try await fetchAsides()
      for archive in try files.archive.storage.setAsideArchives() where archive.reason == .undecoded
      {
        rest.undecoded.subtract(await fingerprints(in: archive))
      }
    } catch {
      // If the archives cannot be read, the state is set aside once more, and nothing is lost.
    }
    return rest
  }

  /// The fingerprints of all values of a state, among which are those of fields that did not fit.
  private func fields(in state: KeyedDecoder?) -> [RecordFingerprint] {
    (state?.keys ?? []).compactMap { key in
      do {
        return try state.map { try ValueContent(copying: key, from: $0).fingerprint }
      } catch {
        // No such value is a field that is kept.
        return nil
      }
    }
  }

  /// The fingerprints of all elements and of the application in an archive; none if
  /// it cannot be read.
  private func fingerprints(in aside: SetAsideArchive) async -> Set<RecordFingerprint> {
    do throws(ArchiveError) {
      let tree = try await with(aside) { () throws(ArchiveError) -> StoredTree? in
        guard let archive = try files.opener.open(aside.storage, recovery: .recover) else {
          return nil
        }
        return try StoredTree(reading: archive)
      }
      guard let tree = tree.flatMap(\.self) else { return [] }
      let all = tree.outline.rows.indices.flatMap { index in
        [tree.values[index].fingerprint] + fields(in: tree.values.state(at: index))
      }
      return Set(all + [tree.applicationValues.fingerprint]).subtracting([.unknown])
    } catch {
      return []
    }
  }
}
