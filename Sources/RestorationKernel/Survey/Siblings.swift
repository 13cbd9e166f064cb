internal import ArchiveCodec

/// The children of one element, while their objects are matched with what is stored.
///
/// As long as objects come in the order in which they are stored, each is compared with the next stored
/// one; from the first that does not, names are looked up.
struct Siblings {
  let parent: Int32
  private let old: [Int32]
  private var next = 0
  private(set) var children: [Child] = []
  private(set) var isChanged = false
  private var names: NameTable?
  private var oldNames: NameTable?
  private var used: Set<Int32> = []
  /// The elements of the children, once somebody asks.
  private var slots: Set<Int32>?
  /// How many children of each name have come, where siblings may share names.
  private var nextIndices: [String: Int32] = [:]

  init(below parent: Int32, of old: [Int32], expecting count: Int) {
    self.parent = parent
    self.old = old
    children.reserveCapacity(count)
  }

  struct Match {
    /// The stored element; nil for a new one.
    var slot: Int32?
    let siblingIndex: Int32
    /// The key of the name, once names are looked up.
    var key: UInt64?
  }

  /// Finds the stored element of an object; nil if another one has its name.
  ///
  /// An object that is found by itself has the known element; for all others the name counts.
  mutating func match(
    _ name: String, _ role: Role, _ known: Int32?, maySharing: Bool, _ places: Places
  ) -> Match? {
    let index = maySharing ? takeIndex(of: name) : 0
    if names == nil {
      if next < old.count, known == nil || known == old[next], isNext(name, role, index, places) {
        next += 1
        return Match(slot: old[next - 1], siblingIndex: index)
      }
      lookUpFromHereOn(places)
    }
    let key = names?.key(of: name, role.sort, index)
    if let key, names?[key] != nil { return nil }
    var slot = known ?? oldNames?.find(name, role.sort, index)
    if let found = slot, !used.insert(found).inserted { slot = nil }
    return Match(slot: slot, siblingIndex: index, key: key)
  }

  /// Takes the index of the next child of a name, be it one that has its place elsewhere: a restore counts
  /// that, too.
  mutating func takeIndex(of name: String) -> Int32 {
    defer { nextIndices[name, default: 0] += 1 }
    return nextIndices[name] ?? 0
  }

  /// Gives back an element that was found by its name, and is that of another object, which may come later.
  mutating func giveBack(_ slot: Int32, _ places: Places) {
    if names == nil { lookUpFromHereOn(places) }
    used.remove(slot)
  }

  private func isNext(_ name: String, _ role: Role, _ index: Int32, _ places: Places) -> Bool {
    let slot = old[next]
    let stored = places.document[slot].place
    return stored.role == role && stored.name == name && stored.siblingIndex == index
      && places.document.isMatchedByName(slot)
  }

  private mutating func lookUpFromHereOn(_ places: Places) {
    var table = NameTable(expecting: max(old.count, children.capacity))
    for child in children { table.insert(child.place, child.slot) }
    names = table
    used = Set(old[..<next])
    oldNames = next < old.count ? NameTable(expecting: old.count) : nil
    for slot in old[next...] where places.document.isMatchedByName(slot) {
      oldNames?.insert(places.document[slot].place, slot)
    }
  }

  mutating func contains(_ slot: Int32) -> Bool {
    if slots == nil { slots = Set(children.map(\.slot)) }
    return slots?.contains(slot) == true
  }

  /// Adds a child that was matched; its place says how it is stored from now on.
  mutating func append(_ child: Child, at key: UInt64?, storedAs stored: Place?) {
    if !isChanged { isChanged = stored != child.place }
    names?.insert(child.place, child.slot, at: key)
    slots?.insert(child.slot)
    children.append(child)
  }

  /// The stored children that no object was matched with.
  func unmatched() -> [Int32] {
    if names == nil { return Array(old[next...]) }
    return old.filter { !used.contains($0) }
  }

  /// Adds what stays though there is no object for it, each where it was stored among the others.
  mutating func keep(_ kept: [Child]) {
    guard !kept.isEmpty else { return }
    var places: [Int32: Int] = [:]
    for (place, slot) in old.enumerated() { places[slot] = place }
    var merged: [Child] = []
    var rest = kept[...]
    for child in children {
      while let next = rest.first, places[next.slot] ?? 0 <= merged.count {
        merged.append(next)
        rest.removeFirst()
      }
      merged.append(child)
    }
    children = merged + rest
  }

  /// Ends the list; returns whether it is another than the stored one.
  ///
  /// Behind these stand as many stored children as the count says.
  mutating func end(besides count: Int) -> Bool {
    if !isChanged { isChanged = !children.lazy.map(\.slot).elementsEqual(old.dropLast(count)) }
    return isChanged
  }
}

extension Document {
  /// Whether an object of the name is that of the element; what references reach is found by itself.
  func isMatchedByName(_ slot: Int32) -> Bool { !self[slot].place.role.livesByReferences }
}

/// Elements by their names among siblings.
struct NameTable {
  private var places: [(place: Place, slot: Int32)] = []
  private var table: KeyTable

  init(expecting count: Int = 0) {
    places.reserveCapacity(count)
    table = KeyTable(expecting: count)
  }

  /// Inserts an element under its name, whose key may be known already.
  mutating func insert(_ place: Place, _ slot: Int32, at key: UInt64? = nil) {
    table.set(
      key ?? self.key(of: place.name, place.role.sort, place.siblingIndex), Int32(places.count))
    places.append((place, slot))
  }

  func find(_ name: String, _ sort: Role, _ siblingIndex: Int32) -> Int32? {
    self[key(of: name, sort, siblingIndex)]
  }

  subscript(key: UInt64) -> Int32? { table[key].map { places[Int($0)].slot } }

  /// The key of a name: the one that it has, or a free one.
  func key(of name: String, _ sort: Role, _ siblingIndex: Int32) -> UInt64 {
    // A number that depends on the process, so that nobody can choose names of the same one; and not one
    // of the bytes: equal names may be spelled with other characters.
    let hash = UInt64(truncatingIfNeeded: name.hashValue)
    var key =
      hash &+ UInt64(sort.rawValue) << 56 &+ UInt64(UInt32(bitPattern: siblingIndex)) << 8 | 1 << 63
    while let number = table[key] {
      let place = places[Int(number)].place
      if place.name == name, place.role.sort == sort, place.siblingIndex == siblingIndex { break }
      key = (key &* 0x9E37_79B9_7F4A_7C15) | 1 << 63
    }
    return key
  }
}
