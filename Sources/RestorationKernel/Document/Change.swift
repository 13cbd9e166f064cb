package import ArchiveCodec

/// How the next document differs from the one before.
package struct Change: Sendable {
  package var bodies: [(slot: Int32, body: RecordFingerprint)]
  /// What else is another; nil if nothing is.
  package var edits: Edits?

  /// What may be another besides the bodies of stored elements.
  package struct Edits: Sendable {
    package var added: [Element] = []
    package var places: [Int32: Place] = [:]
    package var children: [(slot: Int32, slots: [Int32])] = []
    package var asksBelow: Set<Int32> = []
    /// The elements whose references are known from now on.
    package var heard: Set<Int32> = []
    package var references: [Int32: [UInt64]] = [:]
    /// Whether there may be an element to which only references lead.
    package var hasReferred: Bool
    /// Whether the references of all stored bodies are known from now on.
    package var isWhole: Bool
    package var kept: KeptParts
    package var removed: [Int32] = []
    /// Nil if it is as before.
    package var head: DocumentHead?
    package var nextID: UInt64

    /// Takes the fingerprints of the records of new elements, both in the order of identifiers.
    mutating func setFingerprints(
      _ records: [(record: UInt64, fingerprint: RecordFingerprint)]
    ) {
      var rest = records[...]
      for index in added.indices where added[index].body != .none {
        let record = added[index].bodyRecord
        rest = rest.drop { $0.record < record }
        if let next = rest.first, next.record == record { added[index].body = next.fingerprint }
      }
    }
  }
}

extension Document {
  package mutating func apply(_ change: consuming Change) {
    for (slot, body) in change.bodies { self[slot].body = body }
    guard let edits = change.edits else { return }
    elements.append(contentsOf: edits.added)
    for (slot, place) in edits.places { self[slot].place = place }
    for (slot, slots) in edits.children { self[slot].children = slots }
    for slot in edits.asksBelow { self[slot].asksBelow = true }
    for slot in edits.heard { self[slot].isUnheard = false }
    for (slot, ids) in edits.references { links.all[slot] = ids.isEmpty ? nil : ids }
    kept = edits.kept
    (links.hasReferred, links.isWhole) = (edits.hasReferred, edits.isWhole)
    for slot in edits.removed {
      self[slot] = Element(id: 0, place: Place(parent: -1, role: .referred))
      links.all[slot] = nil
    }
    removedCount += edits.removed.count
    leftovers = []
    hasUnstoredKept = false
    if let head = edits.head { self.head = head }
    nextID = edits.nextID
  }

  /// Forgets what bodies are, since the names in them have other numbers now.
  mutating func forgetFingerprints() {
    for index in elements.indices where elements[index].body != .none {
      elements[index].body = .unknown
    }
  }

  /// Drops the slots of removed elements; returns the new slot of each, -1 for a removed one.
  package mutating func pack() -> [Int32] {
    let order = walk(from: Self.tree)
    var slots = [Int32](repeating: -1, count: elements.count)
    for (index, slot) in order.enumerated() { slots[Int(slot)] = Int32(index) }
    elements = order.map { slot in
      var element = self[slot]
      if element.place.parent >= 0 { element.place.parent = slots[Int(element.place.parent)] }
      for index in element.children.indices {
        element.children[index] = slots[Int(element.children[index])]
      }
      return element
    }
    func moved<Value>(_ values: [Int32: Value]) -> [Int32: Value] {
      .init(values.map { (slots[Int($0.key)], $0.value) }, uniquingKeysWith: { first, _ in first })
    }
    links.all = moved(links.all)
    (kept.elements, kept.bodies) = (moved(kept.elements), moved(kept.bodies))
    (kept.withheld, kept.pending) = (moved(kept.withheld), moved(kept.pending))
    removedCount = 0
    return slots
  }
}
