internal import Synchronization

/// The keys and passphrases of an archive, changed without sealing its content
/// anew.
///
/// The file is written again with another header; its body is copied as it is, so the
/// version of the archive stays the same. An archive that was opened before keeps
/// reading the old file.
///
/// A program that could open the archive before may have kept its data key or a copy of
/// the old header. With either it can read this file and later appends to it.
/// ``rotate(slots:)`` locks that program out.
extension ArchiveWriter {
  /// The slots of the archive, in the order of the file; nil if nothing is
  /// stored.
  public var slots: [ArchiveSlot]? {
    // Also those of a file that could not be opened yet, after it was written.
    state.withLock { ($0.unopened ?? $0.open?.keys)?.header.slots }
  }

  /// Lets another key or passphrase open the archive.
  ///
  /// - Parameter slot: The new key or passphrase.
  /// - Throws: ``ArchiveError``: `slotMissing` if nothing is stored, `limitExceeded` if
  ///   there are 8 slots or 2 for passphrases already, `poisoned` after a failed sync,
  ///   `outdated` if another writer has replaced the file, `forked` in a child process,
  ///   and the errors of the storage. Then the archive is as before; only with
  ///   `notDurable` the change is there, and a power cut may undo it.
  /// - Complexity: O(*n*) in the size of the file, which is copied, and the
  ///   cost of a passphrase.
  public func addSlot(_ slot: NewSlot) throws(ArchiveError) {
    try changeSlots(removing: nil, adding: slot)
  }

  /// Removes one key or passphrase of the archive.
  ///
  /// The same key may have another slot, which still opens.
  ///
  /// - Parameter slot: One of ``slots``; it may be the one that opened the
  ///   archive.
  /// - Throws: ``ArchiveError``: `slotMissing` if there is no such slot,
  ///   `lastSlot` if nothing would open the archive any more, and as
  ///   ``addSlot(_:)`` does.
  /// - Complexity: O(*n*) in the size of the file, which is copied.
  public func removeSlot(_ slot: ArchiveSlot) throws(ArchiveError) {
    try changeSlots(removing: slot, adding: nil)
  }

  /// Replaces one key or passphrase of the archive by another, in one step.
  ///
  /// - Parameters:
  ///   - old: One of ``slots``; it may be the one that opened the archive.
  ///   - new: The new key or passphrase.
  /// - Throws: ``ArchiveError`` as ``addSlot(_:)`` and ``removeSlot(_:)`` do.
  /// - Complexity: As ``addSlot(_:)``.
  public func replaceSlot(_ old: ArchiveSlot, with new: NewSlot) throws(ArchiveError) {
    try changeSlots(removing: old, adding: new)
  }

  /// Replaces an old passphrase by a new one, in one step.
  ///
  /// The slot keeps its place and its key reference. The content is copied as it is. A
  /// program that had the old passphrase may have kept the data key or a copy of the
  /// old header; with either it can still read the archive. If others know the old
  /// passphrase, use ``rotate(slots:)``.
  ///
  /// - Parameters:
  ///   - old: A passphrase of the archive; the archive may have been opened with
  ///     another credential.
  ///   - new: The passphrase that opens the archive from now on.
  ///   - cost: The cost of a try of the new one; that of the old one if nil.
  /// - Throws: ``ArchiveError``: `wrongPassphrase` if the old one opens no
  ///   slot, `wrongKey` if no slot is for a passphrase, `limitExceeded` if a
  ///   try costs more than the writer's limits allow, and as ``addSlot(_:)``
  ///   does. Then the archive is as before.
  /// - Complexity: As ``addSlot(_:)``, and the cost of each slot on which the
  ///   old one is tried, at most two.
  public func changePassphrase(
    from old: Passphrase, to new: Passphrase, cost: PassphraseCost? = nil
  ) throws(ArchiveError) {
    try changingSlots { (keys) throws(ArchiveError) in
      let slot = try keys.header.openSlot(
        with: .passphrase(old), context: context, limits: limits
      ).slot
      let new = NewSlot.passphrase(
        new, cost: cost ?? slot.kind.passphraseCost ?? .moderate, reference: slot.keyReference)
      return try keys.changingSlots(removing: slot, adding: new, random: random)
    }
  }

  /// Seals the whole content anew under a new data key, which only the given
  /// slots open.
  ///
  /// No other key or passphrase opens the new file or later changes of it, even
  /// if it opened the archive before. Copies and backups of the old file stay
  /// as they are.
  ///
  /// - Parameter slots: The keys and passphrases that open the archive later: 1 to 8,
  ///   and at most 2 passphrases.
  /// - Throws: ``ArchiveError``: `lastSlot` for no slots, `limitExceeded` for
  ///   too many, and as ``compact()`` does. Nothing stored is not an error.
  /// - Complexity: O(*n*) in the size of the archive, and the cost of each
  ///   passphrase.
  public func rotate(slots: [NewSlot]) throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in try compact(&state, slots: slots) }
  }

  private func changeSlots(
    removing old: ArchiveSlot?, adding new: NewSlot?
  ) throws(ArchiveError) {
    try changingSlots { (keys) throws(ArchiveError) in
      try keys.changingSlots(removing: old, adding: new, random: random)
    }
  }

  /// Writes the file with another header and the same body.
  private func changingSlots(
    _ change: (UnlockedHeader) throws(ArchiveError) -> UnlockedHeader
  ) throws(ArchiveError) {
    try changing { (state) throws(ArchiveError) in
      if let poison = state.poison { throw poison }
      guard let open = state.open else { throw ArchiveError(.slotMissing) }
      let changed = try change(open.keys)
      let file = try storedFile(open)
      let body = open.keys.header.byteCount..<open.history.end
      try replaceStorage(by: changed, &state) { sink throws(ArchiveError) in
        try sink.write(changed.encoded)
        try sink.write(body, of: file)
      } opening: { () throws(ArchiveError) in
        try read(changed)
      }
    }
  }

  /// Opens the file as it is now: the file that this writer has open only knows the
  /// size from the time of its opening.
  private func storedFile(_ open: State.Open) throws(ArchiveError) -> any ArchiveFile {
    guard let file = try storage.open(), file.byteCount >= open.history.end,
      open.keys.matches(try StoredHeader(reading: file))
    else { throw ArchiveError(.outdated, subject: "the file was replaced or removed") }
    return file
  }
}

extension Archive {
  /// Lists the slots of the stored archive, without a key.
  ///
  /// - Parameter storage: The storage of the archive.
  /// - Returns: The slots in the order of the file, not authenticated; nil if the
  ///   storage is empty.
  /// - Throws: ``ArchiveError``: `notAnArchive`, `unsupportedVersion`,
  ///   `unsupportedFeature`, `truncated`, `damaged`, `limitExceeded`, and the errors of
  ///   the storage.
  public static func slots(of storage: any ArchiveStorage) throws(ArchiveError) -> [ArchiveSlot]? {
    do {
      guard let file = try storage.open() else { return nil }
      return try StoredHeader(reading: file).header.slots
    } catch {
      throw error.located(at: storage.location)
    }
  }
}
