internal import ArchiveCodec

/// The subkeys of secrets, which are stored before a state that needs them, and go before a
/// state that had them.
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

  /// Removes the subkeys that no archive needs any more, after a state was written.
  func dropSecrets(besides use: SecretUse?) async {
    do throws(ArchiveError) {
      // An archive that is set aside only in the store may be put back, too.
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

  /// Removes the subkeys of a state that goes, but the ones that archives need which are set aside.
  ///
  /// If the archives that are set aside elsewhere could not be read, all subkeys stay.
  func removeSecretsOfOne(_ elsewhere: Set<UInt64>?) throws(ArchiveError) {
    guard let elsewhere else { return }
    let archives = try files.archive.storage.setAsideArchives()
    guard !archives.isEmpty else { return try removeSecrets() }
    let here = archives.filter { files.link?.isElsewhere($0) != true }
    switch try files.secrets.removal(besides: here, elsewhere) {
    case .none: break
    case .removeAll: try removeSecrets()
    case .keep(let needed): try files.secrets.removeAll(besides: needed)
    }
  }

  /// The subkeys to which archives refer that are set aside only in the store, also by other
  /// machines; nil if one of them cannot be read.
  func secretsOfStoredAsides() async -> Set<UInt64>? {
    do throws(ArchiveError) {
      guard let link = files.link, try files.secrets.file.isStored else { return [] }
      try await fetchAsides()
      var all: Set<UInt64> = []
      for archive in link.storedAsides {
        let ids = try await with(archive) { files.secrets.referred(in: archive.storage) }
        // An archive that is gone needs no subkeys.
        guard let ids = ids ?? [] else { return nil }
        all.formUnion(ids)
      }
      return all
    } catch {
      return nil
    }
  }
}
