internal import ArchiveCodec

/// The subkeys of the secrets of one state, in memory and beside the state.
///
/// They are stored before a state that needs them, and go before a state that had them.
final class SecretStore {
  let subkeys: SecretKeys
  let file: SecretsFile
  private let opener: ArchiveOpener
  /// Whether a store of several machines has all that is here; nil if the state is only here.
  ///
  /// What was forgotten stays on record until then, or it would come back from there.
  private let hasSentAll: (@Sendable () -> Bool)?
  /// Which are stored; nil if nobody has read that since the state was claimed.
  private var stored: Set<UInt64>?
  /// To which the generations refer, by their identifiers; nil for one that cannot be read.
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
  /// Those that a save has made which is not written yet stay.
  ///
  /// - Throws: What the storage throws: a later read may succeed, and the save after a restore
  ///   without the subkeys would lose the secrets. Also why they are damaged: secrets without
  ///   subkeys are absent.
  func load(_ key: ArchiveKey) throws(ArchiveError) {
    stored = nil
    try read(key)
  }

  /// What opens the secrets of a state that is only looked at.
  func toLookAt(_ key: ArchiveKey) -> SecretKeys {
    guard stored == nil else { return subkeys }
    // Not with those of this state: whoever has it may change them.
    let found = SecretKeys()
    do throws(ArchiveError) {
      if try file.isStored { found.add(try file.read(key).entries) }
    } catch {
      // They are absent, as in a restore.
    }
    return found
  }

  /// Reads which subkeys are stored, if that was not done under the claim.
  ///
  /// Damaged ones are as good as none; the next write replaces them.
  func readStored() throws(ArchiveError) -> Set<UInt64> {
    if let stored { return stored }
    do throws(ArchiveError) {
      return try file.isStored ? read(opener.existingKey()) : read(nil)
    } catch {
      // Something else in their place must not be replaced.
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

  /// Reads the subkeys anew when they are needed next: what was read before is too old.
  func readAgain() { stored = nil }

  /// Goes on as if nobody had read what is stored.
  func forgetStored() {
    (stored, ofGenerations) = (nil, [:])
  }

  /// Forgets all that is known here, before others may have the state.
  func close() {
    subkeys.removeAll()
    forgetStored()
  }

  // MARK: With a state that is written

  /// Makes sure that the subkeys are stored to which a state refers that is about to be
  /// written; nil if it has no secrets and none are known.
  ///
  /// - Throws: `outdated` if all were forgotten since the save began.
  func store(_ use: SecretUse?) throws(ArchiveError) {
    guard let use else { return }
    guard use.clearCount == subkeys.clearCount else { throw ArchiveError(.outdated) }
    let need = SubkeyNeed(stored: try readStored(), referred: use.ids)
    let ids = need.beforeState(
      isKnown: { subkeys[$0] != nil }, hasMoved: subkeys.hasMoved)
    guard let ids else { return }
    forgetSettled()
    try write(ids)
  }

  /// Lets the subkeys go to which neither the state that was written refers any more nor
  /// one of its generations.
  ///
  /// While another state is set aside, all stay: it may be put back. What cannot be
  /// removed now goes with a later save.
  func drop(besides use: SecretUse?, _ storage: any ArchiveStorage) throws(ArchiveError) {
    // Without secrets nobody has read them since the state was let go and claimed again.
    let need = SubkeyNeed(
      stored: use == nil ? try readStored() : stored ?? [], referred: use?.ids ?? [])
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

  /// The subkeys to which an archive refers; nil if it cannot be read whole.
  func referred(in storage: any ArchiveStorage) -> Set<UInt64>? {
    do {
      guard let archive = try opener.open(storage) else { return [] }
      let tree = try StoredTree(reading: archive)
      return tree.isWhole ? try tree.referredSubkeys() : nil
    } catch {
      return nil
    }
  }

  /// Stores those that have one of some identifiers and are known here.
  func write(_ ids: Set<UInt64>) throws(ArchiveError) {
    try write(subkeys.entries.filter { ids.contains($0.id) })
  }

  private func write(_ entries: [SecretKeys.Entry]) throws(ArchiveError) {
    let forgotten = hasSentAll == nil ? [] : subkeys.forgotten
    do throws(ArchiveError) {
      try file.write(entries, forgotten: forgotten, opener.currentKey(creating: true).key)
      subkeys.hasMoved = false
      stored = Set(entries.map(\.id))
    } catch {
      // Which of both is there, somebody has to look at.
      stored = nil
      throw error
    }
  }

  // MARK: With a state that goes

  /// What was forgotten and a store may have, with the key that seals it.
  struct Unsent {
    let forgotten: Set<UInt64>
    let key: ArchiveKey
  }

  /// Removes all subkeys, before the state goes.
  ///
  /// Those that were forgotten stay on record until the store has forgotten them, too: the state
  /// may come back from there.
  func removeAll(_ unsent: Unsent?) throws(ArchiveError) {
    close()
    if let unsent {
      subkeys.forgotten = unsent.forgotten
      try file.write([], forgotten: unsent.forgotten, unsent.key)
    } else {
      try file.storage.remove()
    }
    stored = []
  }

  /// What becomes of the subkeys of a state that goes while archives are set aside, which need
  /// theirs, as others do that are set aside elsewhere.
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

  /// Removes all but some.
  func removeAll(besides needed: Set<UInt64>) throws(ArchiveError) {
    subkeys.removeAll(besides: needed)
    try write(needed)
  }

  // MARK: Forgetting

  /// Forgets subkeys here, durably.
  ///
  /// - Parameters:
  ///   - selection: Which of them.
  ///   - lost: To which all refers that is here, where the store may have subkeys that are lost
  ///     here. Nothing else tells which these are.
  /// - Throws: What the storage throws, and why the key cannot be had.
  func forget(
    _ selection: SecretSelection, lost: () throws(ArchiveError) -> Set<UInt64>
  ) throws(ArchiveError) {
    let stored = try readStored()
    forgetSettled()
    let isAnyGone = subkeys.forget(selection)
    if selection == .all { subkeys.forgotten.formUnion(try lost()) }
    if stored.isEmpty {
      // They are damaged: those that are known here are written again, the others are gone.
      try write(subkeys.entries)
    } else if isAnyGone {
      try write(stored)
    } else {
      // A process that was killed may have written them without these just now.
      try file.storage.synchronize()
    }
  }

  /// Drops the record of what was forgotten, if the store has that and it is much.
  ///
  /// As long as it is little it stays: another machine may still have what was forgotten.
  private func forgetSettled() {
    guard let hasSentAll else { return subkeys.forgotten = [] }
    guard subkeys.forgotten.count > Self.largestForgotten, hasSentAll() else { return }
    subkeys.forgotten = []
  }

  /// Of 8 bytes each.
  private static let largestForgotten = 4096

  // MARK: Of a store

  /// Reads subkeys of either side, and which are forgotten there.
  func content(of bytes: [UInt8]) throws(ArchiveError) -> SecretsFile.Content {
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

  /// Stores the subkeys of a state that a conflict sets aside with those of the one that
  /// stays, so that it has its secrets when it is put back.
  ///
  /// A subkey to which the one that stays refers, and that it does not have, was forgotten.
  func keep(
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

  /// Forgets in a state of another machine what was forgotten here before it came.
  func forgetAgain(_ forgotten: Set<UInt64>) throws(ArchiveError) {
    guard !forgotten.isEmpty else { return }
    let stored = try readStored()
    subkeys.forgotten.formUnion(forgotten)
    subkeys.remove { forgotten.contains($0.id) }
    guard !stored.isDisjoint(with: forgotten) else { return }
    try write(stored)
  }

  /// Lets go of the record of what was forgotten, where a store has nothing of the state.
  func dropForgotten() {
    subkeys.forgotten = []
    stored = []
  }
}
