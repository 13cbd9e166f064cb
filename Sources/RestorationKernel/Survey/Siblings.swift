/// The children of one element, while their objects are matched with what is stored.
///
/// As long as objects come in the order in which they are stored, each is compared with the next stored
/// one; from the first that does not, names are looked up.
struct Siblings {
  let parent: Int32
  private let old: [Int32]
  private var next = 0
  private(set) var slots: [Int32] = []
  /// The names of the children, and those of the stored ones that follow; nil as long as they come in order.
  private var names: (now: NameTable, stored: NameTable?)?
  /// The stored elements that have been matched, once names are looked up.
  private var used: Set<Int32> = []
  /// The elements of the children, once somebody asks.
  private var all: Set<Int32>?
  /// How many children of each name have come, where siblings may share names.
  private var nextIndices: [String: Int32] = [:]

  init(below parent: Int32, of old: [Int32], expecting count: Int) {
    self.parent = parent
    self.old = old
    slots.reserveCapacity(count)
  }

  /// Finds the stored element of an object, nil for a new one, and its number among equal names; nil if
  /// another one has its name.
  ///
  /// An object that is found by itself has the known element; for all others the name counts.
  mutating func match(
    _ name: String, _ role: Role, _ known: Int32?, maySharing: Bool, _ places: Places
  ) -> (slot: Int32?, siblingIndex: Int32)? {
    let index = maySharing ? takeIndex(of: name) : 0
    if names == nil {
      if next < old.count, known == nil || known == old[next], isNext(name, role, index, places) {
        next += 1
        return (old[next - 1], index)
      }
      lookUpFromHereOn(places)
    }
    guard names?.now.insert(name, role.sort, index, parent) == true else { return nil }
    let slot = known ?? names?.stored?.find(name, role.sort, index)
    return (slot.flatMap { used.insert($0).inserted ? $0 : nil }, index)
  }

  /// Takes the index of the next child of a name, be it one that has its place elsewhere: a restore counts
  /// that, too.
  mutating func takeIndex(of name: String) -> Int32 {
    defer { nextIndices[name, default: 0] += 1 }
    return nextIndices[name] ?? 0
  }

  /// Gives back an element that was found by its name, and is that of another object, which may come later.
  mutating func giveBack(_ slot: Int32, _ places: Places) {
    if names == nil {
      lookUpFromHereOn(places)
      names?.now.insert(places.document[slot].place, slot)
    }
    used.remove(slot)
  }

  private func isNext(_ name: String, _ role: Role, _ index: Int32, _ places: Places) -> Bool {
    let stored = places.document[old[next]].place
    return stored.role == role && stored.name == name && stored.siblingIndex == index
  }

  private mutating func lookUpFromHereOn(_ places: Places) {
    var now = NameTable(expecting: max(old.count, slots.capacity))
    for slot in slots { now.insert(places.place(of: slot), slot) }
    used = Set(old[..<next])
    // Most new parents have none, and no name is looked up there.
    var stored = next < old.count ? NameTable(expecting: old.count - next) : nil
    // What references reach is found by itself.
    for slot in old[next...] where !places.document[slot].place.role.livesByReferences {
      stored?.insert(places.document[slot].place, slot)
    }
    names = (now, stored)
  }

  mutating func contains(_ slot: Int32) -> Bool {
    if all == nil { all = Set(slots) }
    return all?.contains(slot) == true
  }

  /// Adds a child that was matched, or is new.
  mutating func append(_ slot: Int32) {
    slots.append(slot)
    all?.insert(slot)
  }

  /// The stored children that no object was matched with.
  func unmatched() -> [Int32] {
    if names == nil { return Array(old[next...]) }
    return old.filter { !used.contains($0) }
  }

  /// Adds what stays though there is no object for it, each where it was stored among the others.
  mutating func keep(_ kept: [Int32]) {
    guard !kept.isEmpty else { return }
    var order: [Int32: Int] = [:]
    for (index, slot) in old.enumerated() { order[slot] = index }
    var (merged, rest): ([Int32], ArraySlice<Int32>) = ([], kept[...])
    for slot in slots {
      while let next = rest.first, order[next] ?? 0 <= merged.count {
        merged.append(rest.removeFirst())
      }
      merged.append(slot)
    }
    slots = merged + rest
  }
}

/// Elements by their names among siblings.
struct NameTable {
  private struct Entry {
    let name: String
    let sort: Role
    let siblingIndex: Int32
    let slot: Int32
  }

  private var entries: [Entry] = []
  private var table: KeyTable

  init(expecting count: Int = 0) {
    entries.reserveCapacity(count)
    table = KeyTable(expecting: count)
  }

  @discardableResult
  mutating func insert(_ place: Place, _ slot: Int32) -> Bool {
    insert(place.name, place.role.sort, place.siblingIndex, slot)
  }

  /// Inserts an element, unless another one has its name; false then.
  mutating func insert(
    _ name: String, _ sort: Role, _ siblingIndex: Int32, _ slot: Int32
  ) -> Bool {
    let (key, number) = look(name, sort, siblingIndex)
    guard number == nil else { return false }
    table.set(key, Int32(entries.count))
    entries.append(Entry(name: name, sort: sort, siblingIndex: siblingIndex, slot: slot))
    return true
  }

  func find(_ name: String, _ sort: Role, _ siblingIndex: Int32) -> Int32? {
    look(name, sort, siblingIndex).number.map { entries[Int($0)].slot }
  }

  /// The key of a name, and the number of its entry; a free key if the name has none.
  private func look(
    _ name: String, _ sort: Role, _ siblingIndex: Int32
  ) -> (key: UInt64, number: Int32?) {
    // A number that depends on the process, so that nobody can choose names of the same one; and not one
    // of the bytes: equal names may be spelled with other characters.
    let hash = UInt64(truncatingIfNeeded: name.hashValue)
    var key =
      hash &+ UInt64(sort.rawValue) << 56 &+ UInt64(UInt32(bitPattern: siblingIndex)) << 8 | 1 << 63
    while let number = table[key] {
      let entry = entries[Int(number)]
      if entry.name == name, entry.sort == sort, entry.siblingIndex == siblingIndex {
        return (key, number)
      }
      key = (key &* 0x9E37_79B9_7F4A_7C15) | 1 << 63
    }
    return (key, nil)
  }
}
