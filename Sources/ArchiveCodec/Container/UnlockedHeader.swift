/// A header with the keys of its file, which are needed to read or write the file, to
/// change its slots, and to make the file that follows it.
final class UnlockedHeader: Sendable {
  let header: Header
  let schedule: KeySchedule
  private let dataKey: SecretBytes
  private let context: ArchiveContext

  /// The key of the only slot, if it is at hand.
  private let onlyKey: ArchiveKey?

  fileprivate init(
    _ header: Header, _ dataKey: consuming SecretBytes, _ context: ArchiveContext,
    onlyKey: ArchiveKey?
  ) throws(ArchiveError) {
    schedule = try KeySchedule(
      dataKey: dataKey, fileSalt: header.fileSalt, head: header.head, context: context)
    self.header = header
    self.dataKey = dataKey
    self.context = context
    self.onlyKey = onlyKey
  }

  /// Makes the header of a new archive, with a random data key of its own.
  convenience init(
    making slots: [NewSlot], context: ArchiveContext, replacing: ArchiveVersion?,
    random: RandomSource
  ) throws(ArchiveError) {
    guard let first = slots.first else { throw ArchiveError(.lastSlot) }
    var header = try Header(
      archiveID: random.bytes(count: 16), replacing: replacing, random: random)
    let dataKey = try SecretBytes(random, count: ArchiveKey.byteCount)
    for slot in slots {
      try header.changeSlots(adding: slot, wrapping: dataKey, context, random)
    }
    try self.init(
      header, dataKey, context, onlyKey: slots.count == 1 ? first.credential.key : nil)
  }

  /// Makes the header of the file that follows this one and opens with the same slots.
  ///
  /// If the key of the only slot is at hand, the data key is a new one. Otherwise the
  /// data key stays, and so do the slots, also slots whose keys are not at hand; all
  /// other keys of the new file are new, because its salt is.
  func successor(
    replacing: ArchiveVersion, random: RandomSource
  ) throws(ArchiveError) -> UnlockedHeader {
    if let onlyKey {
      return try UnlockedHeader(
        making: [.key(onlyKey, reference: header.slots[0].keyReference)], context: context,
        replacing: replacing, random: random)
    }
    var successor = try Header(archiveID: header.archiveID, replacing: replacing, random: random)
    successor.slots = header.slots
    return try UnlockedHeader(successor, try dataKey.copy(), context, onlyKey: nil)
  }

  /// Whether the data key has made a stored header, with these slots or others.
  func authenticates(_ stored: StoredHeader) -> Bool {
    isEqualInConstantTime(schedule.headerMAC(stored.authenticatedBytes), stored.mac)
  }

  /// Whether a stored header is this one.
  func matches(_ stored: StoredHeader) -> Bool {
    authenticates(stored) && encoded.suffix(Header.macByteCount).elementsEqual(stored.mac)
  }

  /// The header of the file with a slot less, one more, or one replaced by another.
  func changingSlots(
    removing old: ArchiveSlot?, adding new: NewSlot?, random: RandomSource
  ) throws(ArchiveError) -> UnlockedHeader {
    var changed = header
    try changed.changeSlots(removing: old, adding: new, wrapping: dataKey, context, random)
    return try UnlockedHeader(changed, try dataKey.copy(), context, onlyKey: nil)
  }

  /// The bytes of the header.
  var encoded: [UInt8] {
    header.encoded(mac: schedule.headerMAC(header.authenticatedBytes))
  }
}

extension StoredHeader {
  /// Finds the slot that the credential opens and makes the keys of the file.
  func unlock(
    with credential: ArchiveCredential, context: ArchiveContext, limits: ArchiveLimits
  ) throws(ArchiveError) -> UnlockedHeader {
    let opened = try header.openSlot(with: credential, context: context, limits: limits)
    let unlocked = try UnlockedHeader(
      header, opened.dataKey, context, onlyKey: header.slots.count == 1 ? credential.key : nil)
    guard unlocked.authenticates(self) else {
      throw ArchiveError(.damaged, offset: header.byteCount - 32, subject: "header")
    }
    return unlocked
  }
}

struct OpenedSlot: ~Copyable {
  let slot: ArchiveSlot
  let dataKey: SecretBytes
}

extension Header {
  /// Tries a credential on the slots of its kind, up to the limit of tries; each try of a passphrase is slow.
  func openSlot(
    with credential: ArchiveCredential, context: ArchiveContext, limits: ArchiveLimits
  ) throws(ArchiveError) -> OpenedSlot {
    let binding = slotBinding(context)
    var failure: ArchiveError?
    var tryCount = 0
    for slot in slots where credential.isFor(slot.kind) && tryCount < credential.largestTryCount {
      tryCount += 1
      if let cost = slot.kind.passphraseCost, !cost.isAtMost(limits.passphraseCost) {
        failure = ArchiveError(.limitExceeded, subject: "cost of a passphrase")
        continue
      }
      switch try slot.open(credential, binding) {
      case .otherCredential: continue
      case .otherContext: failure = ArchiveError(.wrongContext)
      case .dataKey(let dataKey): return OpenedSlot(slot: slot, dataKey: dataKey)
      }
    }
    throw failure ?? credential.failure(slotCount: tryCount)
  }
}

extension ArchiveCredential {
  fileprivate var key: ArchiveKey? {
    if case .key(let key) = self { key } else { nil }
  }

  /// Keys cost next to nothing, but a hostile header must not make a reader wait for
  /// eight passphrases.
  fileprivate var largestTryCount: Int {
    switch self {
    case .key: Header.slotCounts.upperBound
    case .passphrase: Header.largestPassphraseCount
    }
  }

  /// The error if no slot opens.
  fileprivate func failure(slotCount: Int) -> ArchiveError {
    switch self {
    case .key: ArchiveError(.wrongKey, subject: slotCount == 0 ? "it takes no key" : nil)
    case .passphrase where slotCount == 0:
      ArchiveError(.wrongKey, subject: "it takes no passphrase")
    case .passphrase: ArchiveError(.wrongPassphrase)
    }
  }
}
