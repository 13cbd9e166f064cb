internal import ArchiveCodec

/// What the saves that follow have to know of a restore.
extension RestorationRun {
  /// The document as it is after the run: what nobody has claimed is kept, and the bodies that objects
  /// have not read are withheld.
  ///
  /// `byteCount` gives the bytes of a stored record.
  func settled(byteCount: (UInt64) -> Int) -> Document {
    keepUntaken()
    if !roots.allSatisfy({ elements.contains($0) }) {
      for slot in order where document[slot].place.parent == Document.tree { noteGivenRoot(slot) }
    }
    if isPlain { return document }
    var after = document
    keep(in: &after, byteCount)
    findLeftOut()
    for (slot, bodies) in after.kept.bodies {
      guard case .restored? = elements[slot].outcome, elements[slot].choice?.unread == nil
      else { continue }
      // The own body has been decoded, so that it is kept when the element is left out again.
      for index in bodies.indices where bodies[index].reason == .leftOut {
        after.kept.bodies[slot]?[index].reason = .replaced
        after.hasUnstoredKept = true
      }
    }
    for slot in order where !after.kept.withheld.isEmpty { after.kept.withheld[slot] = nil }
    for slot in [Document.tree] + order {
      guard let reason = withheldReason(slot) else { continue }
      after.kept.withheld[slot] = Kept(
        reason: reason, form: document[slot].place.form,
        byteCount: byteCount(document[slot].bodyRecord),
        given: reason == .replaced && !elements[slot].isReplaced
          ? elements[slot].choice?.unread?.id : nil,
        // One that has read nothing of it is asked what it says without it.
        said: [.otherClass, .fieldReplaced].contains(reason) ? nil : said(slot))
    }
    return after
  }

  /// Whether all is back and read whole, and nothing was kept, as is usual: then there is nothing to know.
  private var isPlain: Bool {
    document.kept.isEmpty && elements[Document.tree].isPlain
      && order.allSatisfy { elements[$0].isPlain && elements[$0].read.isWhole }
  }

  /// Notes the nodes that are back, but that the node above does not contain any more; if the decoding of that
  /// one could not be called, or threw, they are kept.
  private func keepUntaken() {
    for slot in order {
      guard !document[slot].children.isEmpty, let parent = elements[slot].node else { continue }
      let stored = document[slot].children.filter {
        document[$0].place.role == .child || document[$0].place.role == .presented
      }
      guard !stored.isEmpty else { continue }
      let contained = parent.contained
      // Usually a node contains the nodes that it contained in the save, and no set has to be built.
      if contained.elementsEqual(stored, by: { $0 === elements[$1].node }) { continue }
      let all = Set(contained.map { ObjectIdentifier($0) })
      for child in stored {
        guard let node = elements[child].node, !all.contains(ObjectIdentifier(node)) else {
          continue
        }
        elements[child].note(.notContained)
        if elements[slot].outcome?.isRead != true { elements[child].isKept = true }
      }
    }
  }

  /// Notes a given root that is not used, since another root is back at its place, or none by a veto.
  private func noteGivenRoot(_ slot: Int32) {
    let (place, outcome) = (document[slot].place, elements[slot].outcome)
    guard place.role.kind == .node, outcome?.step != nil || outcome == .vetoed,
      let given = existingObject(place), given !== elements[slot].object
    else { return }
    elements[slot].note(.givenRootNotUsed)
  }

  /// Keeps elements in a document, each with all below it.
  private func keep(in after: inout Document, _ byteCount: (UInt64) -> Int) {
    guard !document.kept.elements.isEmpty || order.contains(where: { elements[$0].isKept })
    else { return }
    var byteCounts: [Int32: Int] = [:]
    for slot in order.reversed() {
      let element = document[slot]
      let own = byteCount(element.bodyRecord) + byteCount(element.contentsRecord)
      byteCounts[slot, default: 0] += own
      byteCounts[element.place.parent, default: 0] += byteCounts[slot] ?? 0
    }
    /// The stored elements that are kept, be it below others.
    var before: [Int32: Kept] = [:]
    for slot in order {
      let (outcome, stored) = (elements[slot].outcome, document.kept.elements[slot])
      // The object of one that was left out may have been there until now.
      before[slot] =
        stored?.reason == .leftOut ? nil : stored ?? before[document[slot].place.parent]
      var kept: Kept?
      if elements[slot].isKept {
        kept = Kept(
          reason: Kept.Reason(outcome), since: before[slot]?.since,
          byteCount: byteCounts[slot] ?? 0, outcome: outcome)
      }
      after.kept.elements[slot] = kept
      if kept?.reason != stored?.reason { after.hasUnstoredKept = true }
    }
  }

  /// Finds the objects that the app itself has made for elements that are left out, and those below.
  private func findLeftOut() {
    // Hooks may have changed what contains them.
    existing.named = [:]
    for slot in order {
      switch elements[slot].outcome {
      case .skipped: break
      case .parentMissing where elements.isBack(document[slot].place.parent): break
      default: continue
      }
      guard let object = existingObject(document[slot].place) else { continue }
      (elements[slot].object, elements[slot].node) = (object, object as? any RestorableNode)
      elements[slot].traits = types.info(of: object).traits
    }
  }

  /// Why the object of an element has not read its own body, or not whole; nil if it has, or is not there.
  private func withheldReason(_ slot: Int32) -> Kept.Reason? {
    switch elements[slot].outcome {
    case .restored:
      elements[slot].choice?.unread != nil
        ? .replaced : elements[slot].isReplaced ? .fieldReplaced : nil
    case .restoredWithoutState, nil: nil
    case _ where !elements.isBack(slot): nil
    case .parentMissing: .leftOut
    case let outcome: Kept.Reason(outcome)
    }
  }

  /// What an object says that has read nothing; nil if it cannot say anything, so that the first state that
  /// it can encode counts as changed.
  private func said(_ slot: Int32) -> RecordFingerprint? {
    guard let object = elements[slot].object else { return nil }
    mark(slot)
    defer { mark(nil) }
    return try? StateProbe.fingerprint(of: object, types.info(of: object).traits)
  }

  // MARK: Report

  /// The lines of the report, after the run has left a document; the elements that are kept have a note.
  ///
  /// All are compared with the usual outcome, which is that of one that is back: others may name long paths.
  func lines(_ after: Document) -> SurveyNotes {
    let last = order.last { elements[$0].isPlain }.flatMap { elements[$0].outcome }
    var lines = SurveyNotes(usual: last ?? .restored(by: .delegate))
    for slot in order { lines.add(slot, elements[slot].outcome ?? .notFound) }
    if !isPlain { addNotes(&lines, after.keptAndBelow) }
    return lines
  }

  private func addNotes(_ lines: inout SurveyNotes, _ kept: Set<Int32>) {
    lines.set(elements[Document.tree].outcome ?? .restored(by: .delegate), Document.tree)
    for note in elements[Document.tree].notes { lines.add(note, Document.tree) }
    for slot in order {
      for note in elements[slot].notes { lines.add(note, slot) }
      if kept.contains(slot) { lines.add(.kept, slot) }
      if elements[slot].isDecodable, let note = unreadNote(slot) { lines.add(note, slot) }
    }
  }

  /// The keys of an element that nobody asked for; nil if there are none.
  func unreadNote(_ slot: Int32) -> ReportNote? {
    // An element that is read whole needs no coder again.
    elements[slot].read.isWhole ? nil : use(slot, \.unreadNote)
  }
}
