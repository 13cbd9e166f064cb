package import ArchiveCodec
internal import RestorationFoundation

extension Document {
  /// Reads the tree of an archive, and no body.
  ///
  /// What is below a contents record that is malformed is left out, and its records stay: see
  /// ``leftovers``. The places of the elements are entered by their identifiers.
  ///
  /// - Throws: `malformed` if there are no forms, or they do not fit together; and the errors of the
  ///   record of forms.
  init(
    _ records: StoredRecords, savedAt number: UInt32, _ slots: inout KeyTable
  ) throws(ArchiveError) {
    self.init()
    guard let record = try records.decoder(of: TreeRecord.forms) else {
      throw malformed("no forms")
    }
    head = try DocumentHead(record)
    (head.savedAt, nextID) = (Date(saved: number), head.idLimit)
    (links.isWhole, self[Self.tree].isUnheard) = (false, true)
    self[Self.tree].body = records.fingerprint(of: self[Self.tree].bodyRecord)
    elements.reserveCapacity(records.count)
    var (next, reached) = (0, self[Self.tree].body == .none ? 1 : 2)
    while next < elements.count {
      let count = elements.count
      do throws(ArchiveError) {
        reached += try readContents(of: Int32(next), records, &slots)
      } catch {
        leftovers = nil
        elements.removeSubrange(count...)
      }
      next += 1
    }
    // Some identifiers are those of elements that were left out.
    if leftovers == nil { slots = slotsByIdentifier }
    do throws(ArchiveError) {
      reached += try readKept(records, slots)
    } catch {
      (kept, leftovers) = (KeptParts(), nil)
    }
    if leftovers != nil, reached < records.count - records.values.count { findLeftovers(records) }
  }

  /// Reads the tree for somebody who restores nothing.
  package init(_ records: StoredRecords) throws(ArchiveError) {
    var slots = KeyTable(expecting: records.count)
    try self.init(records, savedAt: 0, &slots)
  }

  /// Finds the records of no element, as those of an unread body whose owner is not there.
  private mutating func findLeftovers(_ records: StoredRecords) {
    var known: Set<UInt64> = [TreeRecord.forms, TreeRecord.kept, TreeRecord.compactionDue]
    for element in elements {
      known.insert(element.bodyRecord)
      if !element.children.isEmpty { known.insert(element.contentsRecord) }
    }
    for bodies in kept.bodies.values { for body in bodies { known.insert(body.record) } }
    known.formUnion(records.values)
    leftovers = records.identifiers.filter { !known.contains($0) }
  }

  /// Reads who is below an element; returns how many records there are of that, with the bodies.
  private mutating func readContents(
    of parent: Int32, _ records: StoredRecords, _ slots: inout KeyTable
  ) throws(ArchiveError) -> Int {
    guard let contents = try records.decoder(of: self[parent].contentsRecord) else { return 0 }
    let steps: [Int64] = try contents.decode(forKey: DocumentKey.ids)
    let names: [String] = try contents.column(DocumentKey.names, steps.count)
    let forms: [Int] = try contents.column(DocumentKey.forms, steps.count)
    let roles: [UInt8] = try contents.column(DocumentKey.roles, steps.count, or: 0)
    let siblings: [Int] = try contents.column(DocumentKey.siblings, steps.count, or: 0)
    let first = elements.count
    var (id, reached) = (UInt64(0), 1)
    for number in steps.indices {
      id &+= UInt64(bitPattern: steps[number])
      guard id > 0, id < head.idLimit, head.forms.indices ~= forms[number],
        let role = Role(rawValue: roles[number] & ~Place.lacksStateMark),
        role != .scene || parent == Self.tree,
        let sibling = Int32(exactly: siblings[number]), sibling >= 0,
        let slot = Int32(exactly: elements.count), slots.set(id, slot) == nil
      else { throw malformed("element \(id)") }
      let place = Place(
        parent: parent, role: role, name: names[number], siblingIndex: sibling,
        form: Int32(forms[number]),
        lacksState: roles[number] & Place.lacksStateMark != 0)
      if role.livesByReferences { links.hasReferred = true }
      let body = records.fingerprint(of: id * 2)
      if body != .none { reached += 1 }
      elements.append(Element(id: id, place: place, body: body, isUnheard: body != .none))
    }
    self[parent].children = (first..<elements.count).map(Int32.init)
    return reached
  }

  /// Reads what is kept; returns how many records there are of that.
  private mutating func readKept(
    _ records: StoredRecords, _ slots: KeyTable
  ) throws(ArchiveError) -> Int {
    guard let record = try records.decoder(of: TreeRecord.kept) else { return 0 }
    let owners: [UInt64] = try record.decode(forKey: DocumentKey.owners)
    let ids: [UInt64] = try record.column(DocumentKey.ids, owners.count)
    let forms: [Int] = try record.column(DocumentKey.forms, owners.count)
    let reasons: [UInt8] = try record.column(DocumentKey.reasons, owners.count)
    let since: [Date] = try record.column(DocumentKey.since, owners.count)
    var taken = slots
    for number in owners.indices {
      guard let slot = owners[number] == 0 ? Self.tree : slots[owners[number]] else { continue }
      var part = Kept(
        id: ids[number], reason: Kept.Reason(rawValue: reasons[number]) ?? .notFound,
        since: since[number].ifNumber)
      if part.id == 0 {
        if slot > Self.tree { kept.elements[slot] = part }
        continue
      }
      // The state of the application has no form.
      guard part.id < head.idLimit, slot == Self.tree || head.forms.indices ~= forms[number],
        taken.set(part.id, slot) == nil
      else { throw malformed("unread \(part.id)") }
      guard records.fingerprint(of: part.record) != .none else { continue }
      part.form = slot == Self.tree ? 0 : Int32(forms[number])
      part.byteCount = records.byteCount(of: part.record)
      kept.bodies[slot, default: []].append(part)
    }
    return kept.bodies.values.reduce(1) { $0 + $1.count }
  }
}

private func malformed(_ subject: String) -> ArchiveError {
  ArchiveError(.malformed, subject: subject)
}

extension DocumentHead {
  package init(_ record: KeyedDecoder) throws(ArchiveError) {
    // In the order in which they are written, in which each search ends where it begins.
    idLimit = try record.decode(forKey: DocumentKey.idLimit)
    guard idLimit <= Element.largestID else { throw malformed("idLimit") }
    let classes: [String] = try record.decode(forKey: DocumentKey.classes)
    let makers: [String] = try record.column(DocumentKey.makers, classes.count)
    let versions: [Int] = try record.column(DocumentKey.versions, classes.count)
    let boards: [String] = try record.column(DocumentKey.storyboards, classes.count, or: "")
    let names: [String] = try record.column(DocumentKey.storyboardNames, classes.count, or: "")
    facts = try record.decodeIfPresent(forKey: DocumentKey.facts) ?? .init()
    forms = classes.indices.map { number in
      var form = Form(className: classes[number], version: versions[number])
      if !makers[number].isEmpty { form.restorationClassName = makers[number] }
      if !boards[number].isEmpty {
        form.storyboard = StoryboardReference(name: boards[number], identifier: names[number])
      }
      return form
    }
  }
}

extension KeyedDecoder {
  /// One of the arrays that stand beside each other in a record; without an other value it must be there.
  fileprivate func column<Value>(
    _ key: String, _ count: Int, or other: Value? = nil
  ) throws(ArchiveError) -> [Value] where [Value]: ArchiveValue {
    let stored: [Value]? = try decodeIfPresent(forKey: key)
    // Quicker than to repeat it by itself, which looks its type up (benchmark: restore small states).
    let column = stored ?? other.map { Array(repeatElement($0, count: count)) }
    guard let column, column.count == count else { throw malformed(key) }
    return column
  }
}

/// The checked records of an archive, by their identifiers.
package struct StoredRecords: Sendable {
  private let records: VerifiedRecords
  private var indices: KeyTable
  /// The records of values, whose numbers begin with the bits of ``TreeRecord/firstValue``.
  package private(set) var values: [UInt64] = []

  /// Reads and checks all records.
  package init(_ archive: Archive) throws(ArchiveError) {
    records = try archive.verifiedRecords()
    indices = KeyTable(expecting: records.count)
    for index in 0..<records.count {
      let record = records.identifier(at: index)
      indices.set(Self.key(of: record), Int32(index))
      if record &>> 61 == 6 { values.append(record) }
    }
  }

  /// The bodies of elements that follow each other have keys that do, too.
  private static func key(of record: UInt64) -> UInt64 { record &>> 1 | record &<< 63 }

  private func index(of record: UInt64) -> Int? { indices[Self.key(of: record)].map(Int.init) }

  package var count: Int { records.count }

  package var identifiers: [UInt64] { (0..<records.count).map { records.identifier(at: $0) } }

  package func decoder(of record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    guard let index = index(of: record) else { return nil }
    return try records.record(at: index)
  }

  /// The fingerprint of a record; `none` if there is none.
  package func fingerprint(of record: UInt64) -> RecordFingerprint {
    index(of: record).map(records.fingerprint) ?? .none
  }

  /// The bytes of a record; 0 if there is none.
  package func byteCount(of record: UInt64) -> Int {
    index(of: record).map(records.byteCount) ?? 0
  }
}
