internal import ArchiveCodec

/// The subkeys of secrets, which are stored before a state that needs them, and go
/// before a state that had them.
extension StateFile {
  /// Reads the subkeys of a state that is claimed and restored.
  ///
  /// If they are damaged, the state is restored all the same.
  func loadSecrets(_ key: ArchiveKey) throws(ArchiveError) {
    do throws(ArchiveError) {
      try files.secrets.load(key)
    } catch {
      guard error.isAboutContent else { throw error }
      addLaunchProblem(error.description)
    }
  }

  /// Lets the subkeys go that nothing needs any more, after a state was written.
  func dropSecrets(besides use: SecretUse?) async {
    do throws(ArchiveError) {
      // Also what is only in the store may be put back.
      if files.link != nil, try !files.secrets.readStored().isSubset(of: use?.ids ?? []),
        try files.archive.storage.setAsideArchives().isEmpty
      {
        try await fetchAsides()
      }
    } catch {
      return
    }
    note { try files.secrets.drop(besides: use, files.archive.storage) }
  }

  /// Removes all subkeys, before the state goes.
  func removeSecrets() throws(ArchiveError) {
    try files.secrets.removeAll(try files.link?.unsentForgotten())
  }

  /// The same for a state that goes while others may be set aside, which need theirs.
  ///
  /// If nobody knows to which subkeys those refer that are set aside elsewhere, all stay.
  func removeSecretsOfOne(_ elsewhere: Set<UInt64>?) throws(ArchiveError) {
    guard let elsewhere else { return }
    let archives = try files.archive.storage.setAsideArchives()
    guard !archives.isEmpty else { return try removeSecrets() }
    let here = archives.filter { files.link?.remote.remoteAside($0) == nil }
    switch try files.secrets.removal(besides: here, elsewhere) {
    case .none: break
    case .removeAll: try removeSecrets()
    case .keep(let needed): try files.secrets.removeAll(besides: needed)
    }
  }

  /// The subkeys to which refers what was set aside and is only in the store, also by other
  /// machines; nil if any of it cannot be read.
  func secretsOfStoredAsides() async -> Set<UInt64>? {
    do throws(ArchiveError) {
      guard let remote = files.link?.remote, try files.secrets.file.isStored else { return [] }
      try await fetchAsides()
      var all: Set<UInt64> = []
      for archive in remote.storedAsides {
        let ids = try await with(archive) { files.secrets.referred(in: archive.storage) }
        // One that is gone needs none.
        guard let ids = ids ?? [] else { return nil }
        all.formUnion(ids)
      }
      return all
    } catch {
      return nil
    }
  }
}
