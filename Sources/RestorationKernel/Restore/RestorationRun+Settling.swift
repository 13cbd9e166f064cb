internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What the saves that follow have to know of a restore.
extension RestorationRun {
  /// The document as it is after the run: what nobody has claimed is kept, and the bodies that objects
  /// have not read are withheld.
  ///
  /// `byteCount` gives the bytes of a stored record.
  func settled(byteCount: (UInt64) -> Int) -> Document {
    var after = document
    keepUntaken()
    keep(in: &after, byteCount)
    findLeftOut()
    for slot in [Document.tree] + order {
      guard let reason = withheldReason(slot) else { continue }
      let element = document[slot]
      after.kept.withheld[slot] = Kept(
        reason: reason, form: element.place.form,
        byteCount: byteCount(element.bodyRecord),
        given: reason == .replaced ? elements.choice(at: slot)?.unread?.id : nil,
        // One that has read nothing of it is asked what it says without it.
        said: reason.staysBeside || reason == .replaced ? said(slot) : nil)
    }
    return after
  }

  /// Notes the nodes that are back, but that the node above does not contain any more; if the decoding of that
  /// one could not be called, or threw, they are kept.
  private func keepUntaken() {
    for slot in order {
      guard let parent = elements.node(at: slot) else { continue }
      let stored = document[slot].children.filter {
        document[$0].place.role == .child || document[$0].place.role == .presented
      }
      guard !stored.isEmpty else { continue }
      let contained = parent.restorationChildren + [parent.restorationPresented].compactMap(\.self)
      // Usually a node contains the nodes that it contained in the save, and no set has to be built.
      if contained.elementsEqual(stored, by: { $0 === elements.node(at: $1) }) { continue }
      let all = Set(contained.map { ObjectIdentifier($0) })
      for child in stored {
        guard let node = elements.node(at: child), !all.contains(ObjectIdentifier(node)) else {
          continue
        }
        elements.note(.notContained, child)
        if elements.outcomes[Int(slot)]?.isRead != true { elements.keep(child) }
      }
    }
  }

  /// Keeps elements in a document, each with all below it.
  private func keep(in after: inout Document, _ byteCount: (UInt64) -> Int) {
    guard !document.kept.elements.isEmpty || order.contains(where: elements.isKept) else { return }
    var byteCounts: [Int32: Int] = [:]
    for slot in order.reversed() {
      let element = document[slot]
      let own =
        byteCount(element.bodyRecord)
        + (element.children.isEmpty ? 0 : byteCount(element.contentsRecord))
      let all = own + (byteCounts[slot] ?? 0)
      byteCounts[slot] = all
      byteCounts[element.place.parent, default: 0] += all
    }
    /// Since when stored elements are kept, be it below others.
    var since: [Int32: Date?] = [:]
    for slot in order {
      let stored = document.kept.elements[slot]
      since[slot] = stored.map(\.since) ?? since[document[slot].place.parent]
      let outcome = elements.outcomes[Int(slot)]
      let kept =
        elements.isKept(slot)
        ? Kept(
          reason: Kept.Reason(outcome), since: since[slot] ?? nil,
          byteCount: byteCounts[slot] ?? 0, outcome: outcome) : nil
      after.kept.elements[slot] = kept
      if kept?.reason != stored?.reason { after.hasUnstoredKept = true }
    }
  }

  /// Finds the objects that the app itself has made for elements that are left out, and those below.
  private func findLeftOut() {
    existing.lookAgain()
    var found: Set<Int32> = []
    for slot in order {
      let place = document[slot].place
      let isTop = elements.outcomes[Int(slot)] == .skipped
      guard isTop || found.contains(place.parent) else { continue }
      let above = place.parent == Document.tree ? nil : elements.object(at: place.parent)
      guard
        let object = existing.object(
          place, below: above, above as? any RestorableNode, isScope: elements.contains)
      else { continue }
      found.insert(slot)
      elements.set(object, at: slot)
    }
  }

  /// Why the object of an element has not read its own body, or not whole; nil if it has, or is not there.
  private func withheldReason(_ slot: Int32) -> Kept.Reason? {
    guard slot == Document.tree || elements.object(at: slot) != nil else { return nil }
    switch elements.outcomes[Int(slot)] {
    case .restored:
      if elements.choice(at: slot)?.unread != nil { return .replaced }
      return elements.isReplaced(slot) ? .fieldReplaced : nil
    case .restoredWithoutState, nil: return nil
    case .parentMissing: return .leftOut
    case let outcome: return Kept.Reason(outcome)
    }
  }

  /// What an object says that has read nothing.
  private func said(_ slot: Int32) -> RecordFingerprint? {
    guard let object = elements.object(at: slot) else { return nil }
    mark(slot)
    defer { mark(nil) }
    do {
      return try StateProbe.fingerprint(of: object, types.traits(of: object))
    } catch {
      // The first state that the object can encode counts as changed.
      return nil
    }
  }

  // MARK: Report

  /// The lines of the report, made when somebody asks for them.
  ///
  /// They say of the document after the run what is kept in it.
  func entries(_ after: Document) -> ReportEntries<RestorationReport.NodeOutcome> {
    let notes = notes(after)
    return ReportEntries { [document, order, outcomes = elements.outcomes] in
      let paths = StoredPaths(document)
      let ofApplication = notes[Document.tree].map {
        [RestorationReport.Entry.ofApplication(.restored(by: .delegate), $0)]
      }
      return (ofApplication ?? [])
        + order.compactMap { slot in
          outcomes[Int(slot)].map {
            RestorationReport.Entry(slot, of: document, at: paths[slot], $0, notes[slot] ?? [])
          }
        }
    }
  }

  private func notes(_ after: Document) -> [Int32: [ReportNote]] {
    var all: [Int32: [ReportNote]] = [:]
    var kept: Set<Int32> = []
    let ofApplication = elements.notes(of: Document.tree)
    if !ofApplication.isEmpty { all[Document.tree] = ofApplication }
    for slot in order {
      var notes = elements.notes(of: slot)
      if !after.kept.elements.isEmpty,
        after.kept.elements[slot] != nil || kept.contains(document[slot].place.parent)
      {
        kept.insert(slot)
        notes.append(.kept)
      }
      if !after.kept.bodies.isEmpty {
        notes += (after.kept.bodies[slot] ?? []).map {
          .keptBeside(version: document.head.forms[Int($0.form)].version, since: $0.since)
        }
      }
      if elements.outcomes[Int(slot)]?.wasAsked == true, let note = coders.unreadNote(slot) {
        notes.append(note)
      }
      if !notes.isEmpty { all[slot] = notes }
    }
    return all
  }
}
