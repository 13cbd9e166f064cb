package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Document {
  /// Reads the tree of an archive, and no body.
  ///
  /// What is below a contents record that is malformed is left out, and its records stay: see
  /// ``isDamaged``.
  ///
  /// - Throws: `malformed` if there are no forms, or they do not fit together; and the errors of the
  ///   record of forms.
  package init(_ records: StoredRecords, savedAt number: UInt32) throws(ArchiveError) {
    self.init()
    try readForms(records, savedAt: number)
    var slots = KeyTable(expecting: records.count)
    self[Self.tree].body = records.fingerprint(of: self[Self.tree].bodyRecord)
    var next = 0
    while next < elements.count {
      do throws(ArchiveError) {
        try readContents(of: Int32(next), records, &slots)
      } catch {
        isDamaged = true
      }
      next += 1
    }
    do throws(ArchiveError) {
      try readKept(records, slots)
    } catch {
      (kept, unread, isDamaged) = ([:], [:], true)
    }
    if !isDamaged { findLeftovers(records) }
  }

  /// Finds the records of no element, as those of an unread body whose owner is not there.
  private mutating func findLeftovers(_ records: StoredRecords) {
    let unreadCount = unread.values.reduce(0) { $0 + $1.count }
    let reached = elements.reduce(unreadCount + 1) { count, element in
      count + (element.body == .none ? 0 : 1) + (element.children.isEmpty ? 0 : 1)
    }
    let hasKept = records.fingerprint(of: TreeRecord.kept) != .none
    guard reached + (hasKept ? 1 : 0) < records.count else { return }
    var known: Set<UInt64> = [TreeRecord.forms, TreeRecord.kept, FileRecord.compactionDue]
    for element in elements {
      known.insert(element.bodyRecord)
      if !element.children.isEmpty { known.insert(element.contentsRecord) }
    }
    for bodies in unread.values { for body in bodies { known.insert(body.record) } }
    leftovers = records.identifiers.filter { !known.contains($0) }
  }

  private mutating func readForms(
    _ records: StoredRecords, savedAt number: UInt32
  ) throws(ArchiveError) {
    guard let record = try records.decoder(of: TreeRecord.forms) else {
      throw malformed("no forms")
    }
    facts = try SaveFacts(record, savedAt: number)
    idLimit = try record.decode(forKey: DocumentKey.idLimit)
    guard idLimit <= Element.largestID else { throw malformed("idLimit") }
    nextID = idLimit
    let classes: [String] = try record.decode(forKey: DocumentKey.classes)
    let makers: [String] = try record.decode(forKey: DocumentKey.makers)
    let versions: [Int] = try record.decode(forKey: DocumentKey.versions)
    let storyboards: [String]? = try record.decodeIfPresent(forKey: DocumentKey.storyboards)
    let names: [String]? = try record.decodeIfPresent(forKey: DocumentKey.storyboardNames)
    guard makers.count == classes.count, versions.count == classes.count,
      storyboards.map({ $0.count == classes.count }) ?? true, storyboards?.count == names?.count
    else { throw malformed("forms") }
    forms = classes.indices.map { number in
      var form = Form(className: classes[number], version: versions[number])
      if !makers[number].isEmpty { form.restorationClassName = makers[number] }
      if let name = storyboards?[number], !name.isEmpty, let identifier = names?[number] {
        form.storyboard = StoryboardReference(name: name, identifier: identifier)
      }
      return form
    }
    guard let former = try record.container(forKey: DocumentKey.formerNames) else { return }
    for name in former.keys { formerNames[name] = try former.decode(forKey: name) }
  }

  private mutating func readContents(
    of parent: Int32, _ records: StoredRecords, _ slots: inout KeyTable
  ) throws(ArchiveError) {
    let record = self[parent].contentsRecord
    guard let contents = try records.decoder(of: record) else { return }
    let steps: [Int64] = try contents.decode(forKey: DocumentKey.ids)
    let names: [String] = try contents.decode(forKey: DocumentKey.names)
    let forms: [Int] = try contents.decode(forKey: DocumentKey.forms)
    let roles: [UInt8]? = try contents.decodeIfPresent(forKey: DocumentKey.roles)
    let siblings: [Int]? = try contents.decodeIfPresent(forKey: DocumentKey.siblings)
    guard names.count == steps.count, forms.count == steps.count,
      roles.map({ $0.count == steps.count }) ?? true,
      siblings.map({ $0.count == steps.count }) ?? true
    else { throw malformed("contents \(record)") }
    var id: UInt64 = 0
    let first = Int32(elements.count)
    var below: [Element] = []
    for number in steps.indices {
      id &+= UInt64(bitPattern: steps[number])
      guard id > 0, id < idLimit, self.forms.indices ~= forms[number],
        let role = Role(rawValue: (roles?[number] ?? 0) & ~Place.lacksStateMark),
        let sibling = Int32(exactly: siblings?[number] ?? 0), sibling >= 0,
        elements.count + number < Int(Int32.max), slots[id] == nil
      else { throw malformed("element \(id)") }
      let place = Place(
        parent: parent, role: role, name: names[number], siblingIndex: sibling,
        form: Int32(forms[number]),
        lacksState: (roles?[number] ?? 0) & Place.lacksStateMark != 0)
      var element = Element(id: id, place: place, body: records.fingerprint(of: id * 2))
      element.isUnheard = true
      below.append(element)
    }
    // Identifiers that grow differ, as those that a save has written mostly do.
    if steps.dropFirst().contains(where: { $0 <= 0 }) {
      guard Set(below.lazy.map(\.id)).count == below.count else {
        throw malformed("contents \(record)")
      }
    }
    for (place, element) in below.enumerated() { slots.set(element.id, first + Int32(place)) }
    if below.contains(where: { $0.place.role.livesByReferences }) { hasReferred = true }
    elements += below
    self[parent].children = Array(first..<Int32(elements.count))
  }

  private mutating func readKept(
    _ records: StoredRecords, _ slots: KeyTable
  ) throws(ArchiveError) {
    guard let record = try records.decoder(of: TreeRecord.kept) else { return }
    storesKept = true
    let ids: [UInt64] = try record.decode(forKey: DocumentKey.ids)
    let reasons: [UInt8] = try record.decode(forKey: DocumentKey.reasons)
    let since: [Date] = try record.decode(forKey: DocumentKey.since)
    guard reasons.count == ids.count, since.count == ids.count else { throw malformed("kept") }
    for number in ids.indices {
      // No element has the identifier 0, and the table no such key.
      guard ids[number] > 0, let slot = slots[ids[number]] else { continue }
      kept[slot] = Kept(
        reason: Kept.Reason(rawValue: reasons[number]) ?? .notFound, since: since[number].ifNumber)
    }
    if let unread = try record.container(forKey: DocumentKey.unread) {
      try readUnread(unread, records, slots)
    }
  }

  private mutating func readUnread(
    _ record: KeyedDecoder, _ records: StoredRecords, _ slots: KeyTable
  ) throws(ArchiveError) {
    let owners: [UInt64] = try record.decode(forKey: DocumentKey.owners)
    let ids: [UInt64] = try record.decode(forKey: DocumentKey.ids)
    let forms: [Int] = try record.decode(forKey: DocumentKey.forms)
    let reasons: [UInt8] = try record.decode(forKey: DocumentKey.reasons)
    let since: [Date] = try record.decode(forKey: DocumentKey.since)
    guard [ids.count, forms.count, reasons.count, since.count].allSatisfy({ $0 == owners.count })
    else { throw malformed("unread") }
    var taken = slots
    for number in ids.indices {
      let id = ids[number]
      guard let slot = owners[number] == 0 ? Self.tree : slots[owners[number]] else { continue }
      // The state of the application has no form.
      guard id > 0, id < idLimit, slot == Self.tree || self.forms.indices ~= forms[number],
        taken.set(id, slot)
      else {
        throw malformed("unread \(id)")
      }
      guard records.fingerprint(of: id * 2) != .none else { continue }
      unread[slot, default: []].append(
        UnreadBody(
          id: id, form: slot == Self.tree ? 0 : Int32(forms[number]),
          reason: UnreadBody.Reason(rawValue: reasons[number]) ?? .decodeThrew,
          since: since[number].ifNumber ?? .distantFuture, byteCount: records.byteCount(of: id * 2))
      )
    }
  }

  private func malformed(_ subject: String) -> ArchiveError {
    ArchiveError(.malformed, subject: subject)
  }
}
