package import ArchiveCodec

/// How the next document differs from the one before.
package struct Change: Sendable {
  package var added: [Element] = []
  package var bodies: [(slot: Int32, body: RecordFingerprint)] = []
  package var places: [(slot: Int32, place: Place)] = []
  package var children: [(slot: Int32, slots: [Int32])] = []
  package var references: [(slot: Int32, ids: [UInt64])] = []
  /// The elements whose objects have said for the first time to whom they refer.
  package var heard: [Int32] = []
  package var kept: [(slot: Int32, kept: Kept?)] = []
  package var unread: [Int32: [UnreadBody]] = [:]
  /// The elements whose objects have written a body in place of one that was withheld.
  package var settled: [Int32] = []
  /// The elements whose body their objects have not read, and go on without.
  package var withheld: [(slot: Int32, withheld: Withheld)] = []
  package var asksBelow: Set<Int32> = []
  package var asksAlone: Set<Int32> = []
  package var removed: [Int32] = []
  /// Those of the removed elements that keep their identifiers.
  package var placeless: Set<Int32> = []
  package var forms: [Form] = []
  package var facts: SaveFacts?
  /// Whether the record of what is kept is written.
  package var storesKept = false
  package var formerNames: [String: [String]]?
  package var nextID: UInt64 = 1
  package var idLimit: UInt64 = 1
}

extension Change {
  /// Takes the fingerprints of the records of new elements, both in the order of identifiers.
  mutating func setFingerprints(_ records: [(record: UInt64, fingerprint: RecordFingerprint)]) {
    var next = 0
    for place in added.indices where added[place].body != .none {
      let record = added[place].bodyRecord
      while next < records.count, records[next].record < record { next += 1 }
      if next < records.count, records[next].record == record {
        added[place].body = records[next].fingerprint
      }
    }
  }
}

extension Document {
  package mutating func apply(_ change: consuming Change) {
    elements.append(contentsOf: change.added)
    for element in change.added where element.place.role.livesByReferences { hasReferred = true }
    for (slot, body) in change.bodies { self[slot].body = body }
    for (slot, place) in change.places {
      if self[slot].place.parent < 0 { removedCount -= 1 }
      self[slot].place = place
      if place.role.livesByReferences { hasReferred = true }
    }
    for (slot, slots) in change.children { self[slot].children = slots }
    for slot in change.asksBelow { self[slot].asksBelow = true }
    for slot in change.heard { self[slot].isUnheard = false }
    for (slot, ids) in change.references { references[slot] = ids.isEmpty ? nil : ids }
    for (slot, kept) in change.kept { self.kept[slot] = kept }
    for (slot, bodies) in change.unread { unread[slot] = bodies.isEmpty ? nil : bodies }
    for (slot, body) in change.withheld { withheld[slot] = body }
    for slot in change.settled { withheld[slot] = nil }
    asksAlone = change.asksAlone.filter { self[$0].place.role.livesByReferences }
    pending = [:]
    for slot in change.removed {
      let id = change.placeless.contains(slot) ? self[slot].id : 0
      self[slot] = Element(id: id, place: Place(parent: -1, role: .referred))
      references[slot] = nil
      kept[slot] = nil
      unread[slot] = nil
      withheld[slot] = nil
      asksAlone.remove(slot)
    }
    removedCount += change.removed.count
    leftovers = []
    if change.storesKept {
      (hasUnstoredKept, storesKept) = (false, !kept.isEmpty || !unread.isEmpty)
    }
    forms += change.forms
    if let names = change.formerNames { formerNames = names }
    if let facts = change.facts { self.facts = facts }
    (nextID, idLimit) = (change.nextID, change.idLimit)
  }

  /// Forgets what bodies are, since the names in them have other numbers now.
  mutating func forgetFingerprints() {
    for place in elements.indices where elements[place].body != .none {
      elements[place].body = .unknown
    }
  }

  /// Drops the places of removed elements; returns the new place of each, -1 for a removed one.
  package mutating func pack() -> [Int32] {
    let order = subtree(of: Self.tree)
    var slots = [Int32](repeating: -1, count: elements.count)
    for (place, slot) in order.enumerated() { slots[Int(slot)] = Int32(place) }
    elements = order.map { slot in
      var element = self[slot]
      if element.place.parent >= 0 { element.place.parent = slots[Int(element.place.parent)] }
      for place in element.children.indices {
        element.children[place] = slots[Int(element.children[place])]
      }
      return element
    }
    func moved<Value>(_ values: [Int32: Value]) -> [Int32: Value] {
      .init(uniqueKeysWithValues: values.map { (slots[Int($0.key)], $0.value) })
    }
    (kept, references) = (moved(kept), moved(references))
    (unread, withheld) = (moved(unread), moved(withheld))
    asksAlone = Set(asksAlone.map { slots[Int($0)] })
    removedCount = 0
    return slots
  }
}
