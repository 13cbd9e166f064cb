internal import Observation
internal import Synchronization

/// The objects whose elements must be found by the object itself.
///
/// These are the objects that say when they change, those that references reach, and as long as something is
/// kept or unread all that a restore has brought back. All others are found by their parents and names.
final class KnownObjects: Sendable {
  static let shared = KnownObjects()

  /// A keeper, as the table knows it.
  final class Owner: Sendable {
    fileprivate let number = shared.table.withLock { $0.addOwner() }

    deinit { shared.table.withLock { [number] in $0.removeOwner(number) } }

    /// The autosave that hears of changes.
    var autosave: AutosaveTurns? {
      get { shared.table.withLock { $0.owners[number].autosave } }
      set { shared.table.withLock { $0.owners[number].autosave = newValue } }
    }
  }

  typealias Known = KnownTable.Entry

  private let table = Mutex(KnownTable())

  /// Notes that an object says that it has changed; any thread may call this.
  func invalidate(_ object: AnyObject) {
    let autosaves = table.withLock { table -> [AutosaveTurns?] in
      guard let first = table.firstNumber(of: object) else { return [] }
      return table.numbers(from: first).filter { table.entries[$0].slot != KnownTable.gone }.map {
        number in
        table.change(number)
        return table.owners[table.entries[number].owner].autosave
      }
    }
    for autosave in autosaves { autosave?.change() }
  }

  /// Whether a keeper has met an object.
  func knows(_ object: AnyObject) -> Bool { table.withLock { $0.firstNumber(of: object) != nil } }

  func known(_ object: AnyObject, to owner: Owner) -> Known? {
    table.withLock { table in
      guard let number = table.number(of: object, owner.number), table.entries[number].slot >= 0
      else { return nil }
      return table.entries[number]
    }
  }

  /// Notes the element of an object; a change that it says from now on is one after that.
  ///
  /// With `hasChanged`, the next save asks the object all the same.
  func note(_ object: AnyObject, at slot: Int32, of owner: Owner, hasChanged: Bool = false) {
    // The last reference to an object may go here, and the object may say then that it has changed.
    var met: [AnyObject] = []
    table.withLock { table in
      let number =
        table.number(of: object, owner.number) ?? table.add(object, owner.number, meeting: &met)
      if table.entries[number].slot != slot { table.set(number, at: slot) }
      table.entries[number].hasChanged = false
      if hasChanged { table.change(number) }
    }
    withExtendedLifetime(met) {}
  }

  /// Forgets the elements of all objects of a keeper.
  func forgetAll(of owner: Owner) {
    table.withLock { $0.forgetAll(of: owner.number, as: -1) }
  }

  /// Notes that elements are gone.
  func leave(_ slots: [Int32], of owner: Owner) {
    table.withLock { table in
      for number in slots.compactMap({ table.number(at: $0, owner.number) }) {
        table.entries[number].slot = KnownTable.gone
      }
    }
  }

  /// Lets the next save ask objects, as those of a save that failed, be it that they have said or not that they
  /// have changed.
  ///
  /// The elements from the count on were never stored.
  func askAgain(_ objects: [AnyObject], of owner: Owner, storedCount count: Int = .max) {
    guard !objects.isEmpty else { return }
    table.withLock { table in
      for number in objects.compactMap({ table.number(of: $0, owner.number) }) {
        if Int(table.entries[number].slot) >= count {
          table.entries[number].slot = -1
        } else {
          table.change(number)
        }
      }
    }
  }

  /// Lets the next save ask all objects of a keeper; returns the elements of those that have not said
  /// that they have changed.
  @discardableResult
  func askAll(of owner: Owner) -> Set<Int32> {
    table.withLock { table in
      let unsaid = table.numbers(of: owner.number).filter { !table.entries[$0].hasChanged }
      unsaid.forEach { table.change($0) }
      return Set(unsaid.map { table.entries[$0].slot })
    }
  }

  /// The elements of the objects that the next call of ``takeChanged(of:)`` gives.
  func changedSlots(of owner: Owner) -> [Int32] {
    table.withLock { table in
      table.owners[owner.number].changed.map { table.entries[$0].slot }
    }
  }

  /// The objects that have said since the last call that they have changed; each has changed until it
  /// is noted.
  func takeChanged(of owner: Owner) -> [(object: AnyObject, slot: Int32)] {
    table.withLock { table in
      let changed = table.owners[owner.number].changed
      table.owners[owner.number].changed = []
      return changed.compactMap { number in
        table.entries[number].isListed = false
        let entry = table.entries[number]
        guard entry.hasChanged, entry.slot >= 0 else { return nil }
        return table.objects[number].object.map { ($0, entry.slot) }
      }
    }
  }

  /// The living object of an element, if it is found by itself.
  func object(at slot: Int32, of owner: Owner) -> AnyObject? {
    table.withLock { table in
      table.number(at: slot, owner.number).flatMap { table.objects[$0].object }
    }
  }

  /// Gives elements their places in a document that has been packed.
  func move(_ slots: [Int32], of owner: Owner) {
    table.withLock { table in
      let numbers = table.numbers(of: owner.number)
      table.owners[owner.number].numbers = []
      for number in numbers {
        let slot = Int(table.entries[number].slot)
        table.set(number, at: slot < slots.count ? slots[slot] : -1)
      }
    }
  }

  /// Reads a part of what an object says; one that is observed has changed when something changes that
  /// the body has read.
  func observing<Value, Failure: Error>(
    _ part: ObservedPart, _ object: AnyObject, _ info: TypeInfo, of owner: @autoclosure () -> Owner,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard info.tracking == .observed else { return try body() }
    let observation = ObjectObservation()
    let owner = owner().number
    let earlier = table.withLock { table in
      table.number(of: object, owner).flatMap {
        table.objects[$0].observations.updateValue(observation, forKey: part)
      }
    }
    earlier?.end()
    let changed = KnownTable.Object(object: object)
    return try withObservationTracking {
      observation.access()
      return Result { () throws(Failure) in try body() }
    } onChange: { [weak observation] in
      if observation?.isEnded == false, let object = changed.object {
        Self.shared.invalidate(object)
      }
    }.get()
  }
}

/// An entry for each object and each keeper that knows it.
struct KnownTable: Sendable {
  /// Numbers alone, which are read without counting references (benchmark: save nodes that say when they change).
  struct Entry {
    let owner: Int
    /// The element; -1 for none, and ``gone``.
    var slot: Int32 = -1
    var hasChanged = false
    /// Whether the entry is among those that have changed since they were taken.
    var isListed = false
    /// The entry of the same object for another keeper; -1 for none.
    let next: Int32
  }

  /// The object of an entry, or one for a closure that any thread calls, and that only asks for the entry.
  struct Object: @unchecked Sendable {
    weak var object: AnyObject?
    /// The observations of an observed object, by its parts.
    var observations: [ObservedPart: ObjectObservation] = .init()
  }

  struct OwnerRow {
    var autosave: AutosaveTurns?
    /// The entries that have changed since they were taken.
    var changed: [Int] = []
    /// The entries of elements by their slots, some of which may have gone since; -1 for none.
    var numbers: [Int32] = []
  }

  /// The slot of an object whose element was removed, and of whose changes nobody is told.
  static let gone: Int32 = -2

  var entries: [Entry] = []
  var objects: [Object] = []
  var owners: [OwnerRow] = []
  private var freeOwners: [Int] = []
  /// The last entry of each object that was made, by its address.
  private var last = KeyTable()
  private var countToSweep = 1024

  mutating func addOwner() -> Int {
    if let free = freeOwners.popLast() { return free }
    owners.append(OwnerRow())
    return owners.count - 1
  }

  mutating func removeOwner(_ owner: Int) {
    forgetAll(of: owner, as: Self.gone)
    owners[owner] = OwnerRow()
    freeOwners.append(owner)
    if freeOwners.count == owners.count { self = KnownTable() }
  }

  mutating func forgetAll(of owner: Int, as slot: Int32) {
    for number in numbers(of: owner) { entries[number].slot = slot }
    for number in owners[owner].changed { entries[number].isListed = false }
    (owners[owner].changed, owners[owner].numbers) = ([], [])
  }

  mutating func add(_ object: AnyObject, _ owner: Int, meeting met: inout [AnyObject]) -> Int {
    if entries.count >= countToSweep { sweep(meeting: &met) }
    return append(object, Object(object: object), owner)
  }

  private mutating func append(_ object: AnyObject, _ new: consuming Object, _ owner: Int) -> Int {
    entries.append(Entry(owner: owner, next: Int32(firstNumber(of: object) ?? -1)))
    objects.append(new)
    last.set(UInt64(addressOf: object), Int32(entries.count - 1))
    return entries.count - 1
  }

  /// Drops the entries without a use, if they are many: moving a weak reference takes long.
  private mutating func sweep(meeting met: inout [AnyObject]) {
    let old = (entries: entries, objects: objects)
    defer { countToSweep = max(1024, entries.count * 2) }
    guard entries.count(where: { $0.slot < 0 }) > entries.count / 4 else { return }
    (entries, objects, last) = ([], [], KeyTable(expecting: old.entries.count))
    for owner in owners.indices { (owners[owner].changed, owners[owner].numbers) = ([], []) }
    for (number, entry) in old.entries.enumerated() where entry.slot != Self.gone {
      guard let object = old.objects[number].object else { continue }
      met.append(object)
      let new = append(object, old.objects[number], entry.owner)
      set(new, at: entry.slot)
      if entry.hasChanged { change(new) }
    }
  }

  /// Gives an element to an entry; one that had it has none any more, as that of a node that was made anew.
  mutating func set(_ number: Int, at slot: Int32) {
    let owner = entries[number].owner
    if let other = self.number(at: slot, owner) { entries[other].slot = -1 }
    entries[number].slot = slot
    guard slot >= 0 else { return }
    while owners[owner].numbers.count <= Int(slot) { owners[owner].numbers.append(-1) }
    owners[owner].numbers[Int(slot)] = Int32(number)
  }

  mutating func change(_ number: Int) {
    entries[number].hasChanged = true
    guard !entries[number].isListed else { return }
    entries[number].isListed = true
    owners[entries[number].owner].changed.append(number)
  }

  /// The entries of the elements of an owner.
  func numbers(of owner: Int) -> [Int] {
    owners[owner].numbers.indices.compactMap { number(at: Int32($0), owner) }
  }

  func number(at slot: Int32, _ owner: Int) -> Int? {
    guard owners[owner].numbers.indices ~= Int(slot) else { return nil }
    let number = Int(owners[owner].numbers[Int(slot)])
    return number >= 0 && entries[number].slot == slot ? number : nil
  }

  func number(of object: AnyObject, _ owner: Int) -> Int? {
    guard var number = firstNumber(of: object) else { return nil }
    while entries[number].owner != owner {
      guard entries[number].next >= 0 else { return nil }
      number = Int(entries[number].next)
    }
    return number
  }

  /// The entries of an object from its first one on, one for each keeper.
  func numbers(from first: Int) -> [Int] {
    sequence(first: first) { Int(entries[$0].next) }.prefix { $0 >= 0 }
  }

  func firstNumber(of object: AnyObject) -> Int? {
    last[UInt64(addressOf: object)].map(Int.init).flatMap { number in
      objects[number].object === object ? number : nil
    }
  }
}
