package import ArchiveCodec

/// The subkeys of the secrets of one state, in memory and beside the state.
///
/// The subkeys are stored before a state that needs them, so that each secret that can be restored
/// has its subkey. They go before a state that had them, so that none outlives its state.
package final class SecretStore {
  package let subkeys: SecretKeys
  package let file: SecretsFile
  private let opener: ArchiveOpener
  /// Whether the store has all that this machine has; nil if the state is only on this machine.
  ///
  /// Until the store has all, the numbers of forgotten subkeys stay on record, or the subkeys would
  /// come back from the store.
  private let hasSentAll: (@Sendable () -> Bool)?
  /// The stored subkeys; nil if the file was not read since the state was claimed.
  private var stored: Set<UInt64>?
  /// Whether the file that stands there survives a power cut: a process that was killed, or a
  /// write that failed, may have left a file whose name was not put on stable storage.
  private var isDurable = false
  /// The subkeys to which each generation refers, by its identifier; nil for a generation
  /// that cannot be read.
  private var ofGenerations: [String: Set<UInt64>?] = [:]

  init(
    _ subkeys: SecretKeys, in file: SecretsFile, _ opener: ArchiveOpener,
    hasSentAll: (@Sendable () -> Bool)?
  ) {
    (self.subkeys, self.file, self.opener) = (subkeys, file, opener)
    self.hasSentAll = hasSentAll
  }

  // MARK: Reading

  /// Reads the subkeys of a state that is claimed and restored.
  ///
  /// The subkeys of a save that is not written yet stay.
  ///
  /// - Throws: The errors of the storage: a later read may succeed, and the save after a restore
  ///   without the subkeys would lose the secrets. Also the reason why the subkeys are damaged: the
  ///   secrets are absent then.
  func load(_ key: ArchiveKey) throws(ArchiveError) {
    readAgain()
    try read(key)
  }

  /// The subkeys that open the secrets of a state that is only looked at.
  func toLookAt(_ key: ArchiveKey) -> SecretKeys {
    guard stored == nil else { return subkeys }
    // Without a claim, the instance that has the state may change its subkeys, so subkeys that are
    // read here stay out of the object that saves use.
    let found = SecretKeys()
    do throws(ArchiveError) {
      if try file.isStored { found.add(try file.read(key).entries) }
    } catch {
      // The secrets are absent, as in a restore.
    }
    return found
  }

  /// Reads which subkeys are stored, unless the file was read under this claim.
  ///
  /// Damaged subkeys are as good as none; the next write replaces them.
  func readStored() throws(ArchiveError) -> Set<UInt64> {
    if let stored { return stored }
    do throws(ArchiveError) {
      return try file.isStored ? read(opener.existingKey()) : read(nil)
    } catch {
      // An archive of another context in the place of the file must not be replaced.
      guard error.isAboutContent, error.code != .wrongContext else { throw error }
      stored = []
      return []
    }
  }

  /// Reads the subkeys that are stored; none without a key.
  @discardableResult
  private func read(_ key: ArchiveKey?) throws(ArchiveError) -> Set<UInt64> {
    var content = SecretsFile.Content()
    if let key, try file.isStored { content = try file.read(key) }
    subkeys.forgotten.formUnion(content.forgotten)
    subkeys.add(content.entries)
    let ids = Set(content.entries.map(\.id)).subtracting(subkeys.forgotten)
    stored = ids
    return ids
  }

  /// Reads the subkeys anew when they are needed next, since the known ones are too old.
  func readAgain() { (stored, isDurable) = (nil, false) }

  /// Forgets which subkeys are stored, so that the next use reads the file.
  package func forgetStored() {
    readAgain()
    ofGenerations = [:]
  }

  /// Forgets all subkeys, before another instance may have the state.
  func close() {
    subkeys.removeAll()
    forgetStored()
  }

  // MARK: With a state that is written

  /// Stores the subkeys to which a state refers, before the state is written.
  ///
  /// The use is nil for a state without secrets.
  ///
  /// - Throws: `outdated` if all subkeys were forgotten since the save began.
  func store(_ use: SecretUse?) throws(ArchiveError) {
    guard let use else { return }
    guard use.clearCount == subkeys.clearCount else { throw ArchiveError(.outdated) }
    let need = SubkeyNeed(stored: try readStored(), referred: use.ids)
    let ids = need.beforeState(
      isKnown: { subkeys[$0] != nil }, hasMoved: subkeys.hasMoved)
    guard let ids else {
      if !use.ids.isEmpty { try synchronize() }
      return
    }
    forgetSettled()
    try write(ids)
  }

  /// Puts the file that stands there on stable storage, unless it is.
  private func synchronize() throws(ArchiveError) {
    guard !isDurable else { return }
    try file.storage.synchronize()
    isDurable = true
  }

  /// Removes the subkeys to which neither the state that was written nor one
  /// of its generations refers.
  ///
  /// While an archive is set aside, all subkeys stay, since the archive may be put back. Subkeys
  /// that cannot be removed now go with a later save.
  func drop(besides use: SecretUse?, _ storage: any ArchiveStorage) throws(ArchiveError) {
    let need = SubkeyNeed(stored: try readStored(), referred: use?.ids ?? [])
    guard need.hasUnreferred, try storage.setAsideArchives().isEmpty else { return }
    guard case .keep(let needed) = need.afterState(try ofGenerations(in: storage)) else { return }
    subkeys.remove { !needed.contains($0.id) }
    try write(needed)
  }

  /// The subkeys to which the generations refer; each generation is read once.
  private func ofGenerations(
    in storage: any ArchiveStorage
  ) throws(ArchiveError) -> SubkeyNeed.Others {
    var known: [String: Set<UInt64>?] = [:]
    for generation in try storage.generations() {
      known[generation.identifier] =
        ofGenerations[generation.identifier] ?? referred(in: generation.storage)
    }
    ofGenerations = known
    var all: Set<UInt64> = []
    for ids in known.values {
      guard let ids else { return .unknown }
      all.formUnion(ids)
    }
    return .subkeys(all)
  }

  /// The subkeys to which an archive refers; nil if the archive cannot be read whole.
  package func referred(in storage: any ArchiveStorage) -> Set<UInt64>? {
    do {
      guard let archive = try opener.open(storage) else { return [] }
      let tree = try StoredTree(reading: archive)
      return tree.isWhole ? try tree.referredSubkeys() : nil
    } catch {
      return nil
    }
  }

  /// Stores the subkeys with these identifiers that are known here.
  func write(_ ids: Set<UInt64>) throws(ArchiveError) {
    try write(subkeys.entries.filter { ids.contains($0.id) })
  }

  private func write(_ entries: [SecretKeys.Entry]) throws(ArchiveError) {
    let forgotten = hasSentAll == nil ? [] : subkeys.forgotten
    do throws(ArchiveError) {
      try file.write(entries, forgotten: forgotten, opener.currentKey(creating: true).key)
      subkeys.hasMoved = false
      (stored, isDurable) = (Set(entries.map(\.id)), true)
    } catch {
      // The stored file may be the old one or the new one, so the next use reads it.
      readAgain()
      throw error
    }
  }

  // MARK: With a state that goes

  /// The forgotten subkeys that the store may have, with the key that seals their record.
  package struct Unsent {
    package let forgotten: Set<UInt64>
    package let key: ArchiveKey

    package init(forgotten: Set<UInt64>, key: ArchiveKey) {
      (self.forgotten, self.key) = (forgotten, key)
    }
  }

  /// Removes all subkeys, before the state goes.
  ///
  /// The numbers of forgotten subkeys stay on record until the store has forgotten them, too: the
  /// state may come back from the store.
  func removeAll(_ unsent: Unsent?) throws(ArchiveError) {
    close()
    if let unsent {
      subkeys.forgotten = unsent.forgotten
      try file.write([], forgotten: unsent.forgotten, unsent.key)
    } else if try file.isStored {
      try file.storage.remove()
    }
    stored = []
  }

  /// Decides what becomes of the subkeys of a state that goes: archives that are set aside need
  /// theirs, here and elsewhere.
  func removal(
    besides archives: [SetAsideArchive], _ elsewhere: Set<UInt64>
  ) throws(ArchiveError) -> SubkeyNeed.Change {
    var needed = elsewhere
    for archive in archives {
      guard let ids = referred(in: archive.storage) else { return .none }
      needed.formUnion(ids)
    }
    return SubkeyNeed(stored: try readStored(), referred: []).beforeRemoval(.subkeys(needed))
  }

  /// Removes all subkeys but the needed ones.
  func removeAll(besides needed: Set<UInt64>) throws(ArchiveError) {
    subkeys.removeAll(besides: needed)
    try write(needed)
  }

  // MARK: Forgetting

  /// Forgets subkeys on this machine, durably.
  ///
  /// - Parameters:
  ///   - selection: The subkeys.
  ///   - lost: The subkeys to which the archives on this machine refer. The store may have subkeys
  ///     that are lost here, and nothing else names them.
  /// - Throws: The errors of the storage, and the reason why there is no key.
  func forget(
    _ selection: SecretSelection, lost: () throws(ArchiveError) -> Set<UInt64>
  ) throws(ArchiveError) {
    let stored = try readStored()
    forgetSettled()
    let isAnyGone = subkeys.forget(selection)
    if selection == .all { subkeys.forgotten.formUnion(try lost()) }
    if stored.isEmpty {
      // No stored subkey could be read: the known ones are written again, damaged ones are gone.
      try write(subkeys.entries)
    } else if isAnyGone {
      try write(stored)
    } else {
      // A process that was killed may just have written the file without the forgotten subkeys.
      try synchronize()
    }
  }

  /// Drops the record of forgotten subkeys, if the store has it and it is large.
  ///
  /// A small record stays: another machine may still have the forgotten subkeys.
  private func forgetSettled() {
    guard let hasSentAll else { return subkeys.forgotten = [] }
    guard subkeys.forgotten.count > Self.largestForgotten, hasSentAll() else { return }
    subkeys.forgotten = []
  }

  /// Counts numbers of 8 bytes each.
  private static let largestForgotten = 4096

  // MARK: Of a store

  /// Reads the file of subkeys that this machine or the store has.
  package func content(of bytes: [UInt8]) throws(ArchiveError) -> SecretsFile.Content {
    guard !bytes.isEmpty else { return SecretsFile.Content() }
    do throws(ArchiveError) {
      return try SecretsFile(storage: MemoryStorage(bytes), context: file.context)
        .read(opener.existingKey())
    } catch {
      // As in a restore, secrets whose subkeys are damaged are absent.
      guard error.isAboutContent else { throw error }
      return SecretsFile.Content()
    }
  }

  /// Adds the subkeys of a state that a conflict sets aside to the stored ones, so that the state
  /// has its secrets when it is put back.
  ///
  /// If the state that stays refers to a subkey that is not stored, the subkey was forgotten,
  /// and is not added.
  package func keep(
    _ entries: [SecretKeys.Entry], besides state: (any ArchiveFile)?
  ) throws(ArchiveError) {
    guard !entries.isEmpty else { return }
    let stored = try readStored()
    var forgotten: Set<UInt64> = []
    if let state {
      let bytes = try state.read(at: 0, count: state.byteCount)
      forgotten = referred(in: MemoryStorage(bytes)) ?? []
    }
    forgotten.formUnion(subkeys.forgotten)
    let kept = entries.filter { !stored.contains($0.id) && !forgotten.contains($0.id) }
    guard !kept.isEmpty else { return }
    subkeys.add(kept)
    try write(stored.union(kept.map(\.id)))
  }

  /// Forgets subkeys also in a state of another machine, if they were forgotten here
  /// before the state came.
  package func forgetAgain(_ forgotten: Set<UInt64>) throws(ArchiveError) {
    guard !forgotten.isEmpty else { return }
    let stored = try readStored()
    subkeys.forgotten.formUnion(forgotten)
    subkeys.remove { forgotten.contains($0.id) }
    guard !stored.isDisjoint(with: forgotten) else { return }
    try write(stored)
  }

  /// Drops the record of forgotten subkeys, since the store has nothing of the state.
  package func dropForgotten() {
    subkeys.forgotten = []
    stored = []
  }
}
