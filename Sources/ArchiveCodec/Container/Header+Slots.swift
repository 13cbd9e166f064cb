extension Header {
  static let slotCounts = 1...8
  /// A reader tries no more slots for passphrases than this, because each try is slow.
  static let largestPassphraseCount = 2

  /// The data that the keys of the slots depend on.
  ///
  /// It stays the same in the files that follow this one, so that the slots can be
  /// copied to them.
  func slotBinding(_ context: ArchiveContext) -> ArchiveSlot.Binding {
    ArchiveSlot.Binding(archive: archiveID + [Self.majorVersion, Self.suite], context: context)
  }

  /// Removes a slot, adds one, or replaces one by another.
  ///
  /// After an error the header is unchanged.
  mutating func changeSlots(
    removing old: ArchiveSlot? = nil, adding new: NewSlot? = nil,
    wrapping dataKey: borrowing SecretBytes, _ context: ArchiveContext, _ random: RandomSource
  ) throws(ArchiveError) {
    var slots = slots
    var place = slots.count
    if let old {
      guard let found = slots.firstIndex(of: old) else {
        throw ArchiveError(.slotMissing)
      }
      place = found
      slots.removeAll { $0 == old }
    }
    if let new {
      try Self.checkRoom(in: slots, for: new)
      slots.insert(
        try ArchiveSlot(new, wrapping: dataKey, binding: slotBinding(context), random: random),
        at: place)
    }
    guard slots.contains(where: { $0.kind != .unknown }) else { throw ArchiveError(.lastSlot) }
    self.slots = slots
  }

  private static func checkRoom(in slots: [ArchiveSlot], for new: NewSlot) throws(ArchiveError) {
    guard slots.count < slotCounts.upperBound else {
      throw ArchiveError(.limitExceeded, subject: "slots of an archive")
    }
    guard new.kind.passphraseCost != nil else { return }
    guard slots.count(where: { $0.kind.passphraseCost != nil }) < largestPassphraseCount else {
      throw ArchiveError(.limitExceeded, subject: "passphrases of an archive")
    }
  }
}
