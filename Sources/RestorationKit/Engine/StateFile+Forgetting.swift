internal import ArchiveCodec

/// Forgets secrets, here and in the store.
extension StateFile {
  /// Forgets secrets on this machine, durably.
  ///
  /// The numbers of the forgotten subkeys are stored beside the others until the store has them: a
  /// conflict would bring the subkeys back.
  func forgetSecrets(_ selection: SecretSelection) async throws(ArchiveError) {
    if claim.taken == nil { move(to: try claim.free()) }
    if try !isCopyOfSecretsHere { try await fetch() }
    let isStored = try files.secrets.file.isStored
    guard isStored || lacksSubkeys else {
      secrets.forget(selection)
      return try files.secrets.file.storage.synchronize()
    }
    try await take()
    do throws(ArchiveError) {
      try await fetch(.toReplace)
    } catch {
      // The subkeys are forgotten here, and the store hears of that later.
      guard error.code == .storeUnavailable, try isCopyOfSecretsHere else { throw error }
    }
    guard selection != .all || files.link != nil else { return try removeSecrets() }
    files.secrets.readAgain()
    do throws(ArchiveError) {
      _ = try files.secrets.readStored()
    } catch {
      // Without the key nobody can say which subkeys were stored.
      guard selection == .all else { throw error }
      return try removeSecrets()
    }
    try files.secrets.forget(selection) { () throws(ArchiveError) in
      lacksSubkeys ? try referredSecrets() : []
    }
  }

  /// Whether a copy that lasts has subkeys, or a record of forgotten ones.
  private var isCopyOfSecretsHere: Bool {
    get throws(ArchiveError) {
      guard files.link?.isCopyLasting == true else { return false }
      return try files.secrets.file.isStored
    }
  }

  /// Whether the other place may have subkeys that are lost here.
  private var lacksSubkeys: Bool { files.link?.lacksSubkeys ?? false }

  /// The subkeys to which all archives on this machine refer, as far as they can be read.
  ///
  /// If subkeys were lost here, nothing else names them.
  private func referredSecrets() throws(ArchiveError) -> Set<UInt64> {
    let others = try files.archive.storage.generations() + files.archive.storage.setAsideArchives()
    let storages = [files.archive.storage] + others.map(\.storage)
    return storages.reduce(into: []) { ids, storage in
      ids.formUnion(files.secrets.referred(in: storage) ?? [])
    }
  }
}
