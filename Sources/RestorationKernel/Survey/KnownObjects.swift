internal import Observation
internal import Synchronization

/// The objects whose elements must be found by the object itself.
///
/// These are the objects that say when they change, those that references reach, and as long as something is
/// kept or unread all that a restore has brought back. All others are found by their parents and names.
final class KnownObjects: @unchecked Sendable {
  static let shared = KnownObjects()

  /// A keeper, as the table knows it.
  final class Owner: @unchecked Sendable {
    let signal = ChangeSignal()
    /// The place among the owners; -1 without any entry.
    @safe @exclusivity(unchecked) fileprivate var number: Int32 = -1
    /// The entries that have changed since they were taken.
    @safe @exclusivity(unchecked) fileprivate var changed: [Int] = []
    /// The entries of elements by their slots, some of which may have gone since; -1 for none.
    @safe @exclusivity(unchecked) fileprivate var entries: [Int32] = []
    fileprivate var isClosed = false

    fileprivate func entry(at slot: Int32) -> Int? {
      guard entries.indices ~= Int(slot), entries[Int(slot)] >= 0 else { return nil }
      return Int(entries[Int(slot)])
    }

    fileprivate func setEntry(_ number: Int, at slot: Int32) {
      guard slot >= 0 else { return }
      while entries.count <= Int(slot) { entries.append(-1) }
      entries[Int(slot)] = Int32(number)
    }
  }

  struct Known {
    let slot: Int32
    let hasChanged: Bool
  }

  /// Numbers alone, which are read without counting references (benchmark: save nodes that say when they change).
  private struct Entry {
    let owner: Int32
    var slot: Int32
    var hasChanged: Bool
    /// The entry of the same object for another keeper; -1 for none.
    var next: Int32 = -1
  }

  /// The object of an entry, or one for a closure that any thread calls, and that only asks for the entry.
  private struct Object: @unchecked Sendable {
    weak var object: AnyObject?
    /// The observations of an observed object, by its parts.
    var observations: [ObservedPart: ObjectObservation] = [:]
  }

  // All that follows is touched by the holder of the lock alone.
  private let lock = Mutex(())
  @safe @exclusivity(unchecked) private var entries: [Entry] = []
  @safe @exclusivity(unchecked) private var objects: [Object] = []
  @safe @exclusivity(unchecked) private var owners: [Owner] = []
  @safe @exclusivity(unchecked) private var table = KeyTable()
  private var countToSweep = 1024

  func invalidate(_ object: AnyObject) {
    let signals = lock.withLock { _ in
      numbers(of: object).filter { entries[$0].slot != Self.gone }.map { number in
        change(number)
        return owners[Int(entries[number].owner)].signal
      }
    }
    for signal in signals { signal.tell() }
  }

  func known(_ object: AnyObject, to owner: Owner) -> Known? {
    lock.withLock { _ in
      guard let number = number(of: object, owner), entries[number].slot >= 0 else { return nil }
      return Known(slot: entries[number].slot, hasChanged: entries[number].hasChanged)
    }
  }

  /// Notes the element of an object; a change that it says from now on is one after that.
  ///
  /// With `hasChanged`, the next save asks the object all the same.
  func note(_ object: AnyObject, at slot: Int32, of owner: Owner, hasChanged: Bool = false) {
    lock.withLock { _ in
      guard let number = number(of: object, owner) else {
        if entries.count >= countToSweep { sweep() }
        return append(object, Object(object: object), owner, slot, hasChanged)
      }
      setEntry(number, at: slot, of: owner)
      entries[number].slot = slot
      entries[number].hasChanged = hasChanged
      if hasChanged { owner.changed.append(number) }
    }
  }

  private func append(
    _ object: AnyObject, _ new: consuming Object, _ owner: Owner, _ slot: Int32, _ hasChanged: Bool
  ) {
    let number = entries.count
    if owner.number < 0 {
      owner.number = Int32(owners.count)
      owners.append(owner)
    }
    let next = firstNumber(of: object).map(Int32.init) ?? -1
    entries.append(Entry(owner: owner.number, slot: slot, hasChanged: hasChanged, next: next))
    objects.append(new)
    table.set(UInt64(addressOf: object), Int32(number))
    setEntry(number, at: slot, of: owner)
    if hasChanged { owner.changed.append(number) }
  }

  /// Gives an element to an entry; one that had it has none any more, as that of a node that was made anew.
  private func setEntry(_ number: Int, at slot: Int32, of owner: Owner) {
    if let other = self.number(at: slot, of: owner), other != number { entries[other].slot = -1 }
    owner.setEntry(number, at: slot)
  }

  /// Forgets the elements of all objects of a keeper.
  func forgetAll(of owner: Owner) {
    lock.withLock { _ in
      (owner.changed, owner.entries) = ([], [])
      for number in entries.indices where entries[number].owner == owner.number {
        entries[number].slot = min(entries[number].slot, -1)
      }
    }
  }

  /// The slot of an object whose element was removed, and of whose changes nobody is told.
  private static let gone: Int32 = -2

  /// Notes that elements are gone.
  func leave(_ slots: [Int32], of owner: Owner) {
    guard !slots.isEmpty else { return }
    lock.withLock { _ in
      for number in slots.compactMap({ number(at: $0, of: owner) }) {
        entries[number].slot = Self.gone
      }
    }
  }

  /// Gives back what a save that failed has taken: the next one asks these objects again.
  ///
  /// The elements from the count on were never stored.
  func giveBack(_ objects: [AnyObject], of owner: Owner, storedCount count: Int) {
    lock.withLock { _ in
      for object in objects {
        guard let number = number(of: object, owner) else { continue }
        if Int(entries[number].slot) >= count {
          entries[number].slot = -1
        } else {
          entries[number].hasChanged = true
          owner.changed.append(number)
        }
      }
    }
  }

  /// Lets the next save ask objects that have not said that they have changed.
  func askAgain(_ objects: [AnyObject], of owner: Owner) {
    guard !objects.isEmpty else { return }
    lock.withLock { _ in
      for object in objects { if let number = number(of: object, owner) { change(number) } }
    }
  }

  /// Lets the next save ask all objects of a keeper; returns the elements of those that have not said
  /// that they have changed.
  @discardableResult
  func askAll(of owner: Owner) -> Set<Int32> {
    lock.withLock { _ in
      var unsaid: Set<Int32> = []
      for number in entries.indices
      where entries[number].owner == owner.number && !entries[number].hasChanged {
        change(number)
        unsaid.insert(entries[number].slot)
      }
      return unsaid
    }
  }

  private func change(_ number: Int) {
    guard !entries[number].hasChanged else { return }
    entries[number].hasChanged = true
    owners[Int(entries[number].owner)].changed.append(number)
  }

  /// Whether no object of a keeper has changed since the last call of ``takeChanged(of:)``.
  func isUnchanged(_ owner: Owner) -> Bool { lock.withLock { _ in owner.changed.isEmpty } }

  /// The objects that have said since the last call that they have changed; each has changed until it
  /// is noted.
  func takeChanged(of owner: Owner) -> [(object: AnyObject, slot: Int32)] {
    lock.withLock { _ in
      var taken: [(object: AnyObject, slot: Int32)] = []
      for number in owner.changed where entries[number].owner == owner.number {
        guard entries[number].hasChanged, entries[number].slot >= 0,
          let object = objects[number].object
        else { continue }
        taken.append((object, entries[number].slot))
      }
      owner.changed = []
      return taken
    }
  }

  /// The living object of an element, if it is found by itself.
  func object(at slot: Int32, of owner: Owner) -> AnyObject? {
    lock.withLock { _ in number(at: slot, of: owner).flatMap { objects[$0].object } }
  }

  private func number(at slot: Int32, of owner: Owner) -> Int? {
    guard let number = owner.entry(at: slot), entries[number].owner == owner.number,
      entries[number].slot == slot
    else { return nil }
    return number
  }

  /// Gives elements their places in a document that has been packed.
  func move(_ slots: [Int32], of owner: Owner) {
    lock.withLock { _ in
      owner.entries = []
      for number in entries.indices where entries[number].owner == owner.number {
        let slot = Int(entries[number].slot)
        guard slot >= 0 else { continue }
        entries[number].slot = slot < slots.count ? slots[slot] : -1
        owner.setEntry(number, at: entries[number].slot)
      }
    }
  }

  func close(_ owner: Owner) {
    lock.withLock { _ in owner.isClosed = true }
  }

  /// Reads a part of what an object says; one that is observed has changed when something changes that
  /// the body has read.
  func observing<Value, Failure: Error>(
    _ part: ObservedPart, _ object: AnyObject, _ info: TypeInfo, of owner: Owner,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard info.tracking == .observed else { return try body() }
    let observation = ObjectObservation()
    let earlier = lock.withLock { _ -> ObjectObservation? in
      guard let number = number(of: object, owner) else { return nil }
      return objects[number].observations.updateValue(observation, forKey: part)
    }
    earlier?.end()
    let changed = Object(object: object)
    return try withObservationTracking {
      observation.access()
      return Result { () throws(Failure) in try body() }
    } onChange: {
      if !observation.isEnded, let object = changed.object { Self.shared.invalidate(object) }
    }.get()
  }

  private func number(of object: AnyObject, _ owner: Owner) -> Int? {
    guard var number = firstNumber(of: object) else { return nil }
    while entries[number].owner != owner.number {
      guard entries[number].next >= 0 else { return nil }
      number = Int(entries[number].next)
    }
    return number
  }

  /// The last entry of an object that was made, from which others follow.
  private func firstNumber(of object: AnyObject) -> Int? {
    table[UInt64(addressOf: object)].map(Int.init).flatMap { number in
      objects[number].object === object ? number : nil
    }
  }

  /// The entries of an object, one for each keeper.
  private func numbers(of object: AnyObject) -> [Int] {
    sequence(first: firstNumber(of: object) ?? -1) { Int(self.entries[$0].next) }
      .prefix { $0 >= 0 }
  }

  /// Drops the entries without a use, if they are many: moving a weak reference takes long.
  private func sweep() {
    let isClosed = owners.map(\.isClosed)
    let idleCount = entries.count { $0.slot < 0 || isClosed[Int($0.owner)] }
    countToSweep = max(1024, entries.count * 2)
    guard idleCount > entries.count / 4 else { return }
    let old = (entries: entries, objects: objects, owners: owners)
    (entries, objects, owners) = ([], [], [])
    table = KeyTable(expecting: old.entries.count)
    for owner in old.owners {
      (owner.number, owner.changed, owner.entries) = (-1, [], [])
    }
    for (number, entry) in old.entries.enumerated() where !isClosed[Int(entry.owner)] {
      guard let object = old.objects[number].object else { continue }
      append(
        object, old.objects[number], old.owners[Int(entry.owner)], entry.slot, entry.hasChanged)
    }
    countToSweep = max(1024, entries.count * 2)
  }
}

/// What an object says of its changes, by any thread.
enum TrackedObjects {
  static func invalidate(_ object: AnyObject) { KnownObjects.shared.invalidate(object) }
}
