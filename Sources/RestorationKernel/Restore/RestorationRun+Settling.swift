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
  func settled(_ before: Document, at now: Date, byteCount: (UInt64) -> Int) -> Document {
    var document = before
    keepNodesThatNobodyTook()
    for slot in order {
      let isKept = outcomes.kept.contains(slot)
      if let stored = before.kept[slot] {
        if isKept {
          document.kept[slot]?.outcome = outcomes[slot]
          if stored.reason != reason(of: slot) {
            document.kept[slot]?.reason = reason(of: slot)
            document.hasUnstoredKept = true
          }
        } else {
          document.kept[slot] = nil
          document.hasUnstoredKept = true
        }
      } else if isKept {
        document.kept[slot] = Kept(
          reason: reason(of: slot), since: before.keptSince(slot), outcome: outcomes[slot])
        document.hasUnstoredKept = true
      }
      if isKept {
        document.kept[slot]?.byteCount = before.subtree(of: slot).reduce(0) { sum, below in
          let element = before[below]
          return sum + byteCount(element.bodyRecord)
            + (element.children.isEmpty ? 0 : byteCount(element.contentsRecord))
        }
      }
    }
    for (slot, object, reason, given) in withheldBodies() {
      let element = document[slot]
      document.withheld[slot] = Withheld(
        reason: reason, form: element.place.form, since: now,
        byteCount: byteCount(element.bodyRecord), given: given,
        said: reason.isOfWhole ? said(object, slot) : nil)
    }
    return document
  }

  private func said(_ object: (any StateRestoring)?, _ slot: Int32) -> RecordFingerprint? {
    guard let object else { return nil }
    mark(slot)
    defer { mark(nil) }
    do {
      return try StateProbe.fingerprint(of: object, types.traits(of: object))
    } catch {
      // The first state that the object can encode counts as changed.
      return nil
    }
  }

  private func reason(of slot: Int32) -> Kept.Reason {
    switch outcomes[slot] {
    case .newerVersion: .newerVersion
    case .migrationFailed: .migrationFailed
    case .unknownRestorationClass, .notARestorationClass: .unknownClass
    case .factoryFailed: .factoryThrew
    case .skipped: .leftOut
    default: .notFound
    }
  }

  private typealias WithheldBody = (
    slot: Int32, object: (any StateRestoring)?, reason: UnreadBody.Reason, given: UInt64?
  )

  /// The own bodies that their objects have not read, or not whole.
  private func withheldBodies() -> [WithheldBody] {
    var all: [WithheldBody] = order.compactMap { slot in
      guard let object = restored.object(at: slot), let outcome = outcomes[slot] else { return nil }
      switch outcome {
      case .newerVersion: return (slot, object, .newerVersion, nil)
      case .migrationFailed: return (slot, object, .migrationFailed, nil)
      case .classMismatch: return (slot, object, .otherClass, nil)
      case .decodeFailed: return (slot, object, .decodeThrew, nil)
      case .restored:
        if let given = choices.isEmpty ? nil : choices[slot]?.first?.unread {
          return (slot, object, .replaced, given)
        }
        let isMended = !restored.mended.isEmpty && restored.mended[slot]?.isReplaced == true
        return isMended ? (slot, object, .fieldReplaced, nil) : nil
      default: return nil
      }
    }
    if outcomes.notes(of: Document.tree).contains(where: \.isOfApplication) {
      all.append((Document.tree, nil, .decodeThrew, nil))
    }
    return all + leftOutObjects()
  }

  /// The objects that the app itself has made for elements that are left out, and those below.
  private func leftOutObjects() -> [WithheldBody] {
    guard outcomes.hasLeftOut else { return [] }
    var made: [Int32: any StateRestoring] = [:]
    existing.lookAgain()
    return order.compactMap { slot in
      let place = document[slot].place
      let isTop = outcomes[slot] == .skipped
      guard isTop || made[place.parent] != nil else { return nil }
      let above =
        isTop
        ? (place.parent == Document.tree ? nil : restored.object(at: place.parent))
        : made[place.parent]
      let node = above as? any RestorableNode
      let object: (any StateRestoring)? =
        switch place.role {
        case .child, .presented, .referred:
          place.parent == Document.tree || node != nil ? existing.node(place, below: node) : nil
        case .view: node.flatMap { existing.view(place, of: $0) }
        case .object: existing.object(place, scope: above, isScope: restored.contains)
        }
      guard let object else { return nil }
      made[slot] = object
      return (slot, object, .leftOut, nil)
    }
  }

  /// If the decoding of a container could not be called, or threw, the nodes that it would have taken are kept
  /// with it.
  private func keepNodesThatNobodyTook() {
    for slot in unattached() {
      outcomes.note(.notContained, slot)
      let parent = document[slot].place.parent
      if reading(of: parent).isWithheld || !outcomes.isDecoded(parent) { outcomes.keep(slot) }
    }
  }

  /// Nodes that are back, but that the node above does not contain any more.
  private func unattached() -> [Int32] {
    order.flatMap { slot -> [Int32] in
      guard let parent = restored.node(at: slot) else { return [] }
      let stored = document[slot].children.filter {
        document[$0].place.role == .child || document[$0].place.role == .presented
      }
      guard !stored.isEmpty else { return [] }
      let contained = parent.restorationChildren + [parent.restorationPresented].compactMap(\.self)
      // Usually a node contains the nodes that it contained in the save, and no set has to be built.
      if contained.count == stored.count,
        zip(contained, stored).allSatisfy({ restored.node(at: $1) === $0 })
      {
        return []
      }
      let all = Set(contained.map { ObjectIdentifier($0) })
      return stored.filter { slot in
        restored.node(at: slot).map { !all.contains(ObjectIdentifier($0)) } ?? false
      }
    }
  }

  // MARK: Report

  /// The lines of the report, made when somebody asks for them.
  ///
  /// They say of the document after the run what is kept in it.
  func entries(_ after: Document) -> ReportEntries<RestorationReport.NodeOutcome> {
    let notes = notes(after)
    return ReportEntries {
      [document, order, outcomes] in
      let paths = StoredPaths(document)
      let ofApplication = notes[Document.tree].map {
        [RestorationReport.Entry.ofApplication(.restored(by: .delegate), $0)]
      }
      return (ofApplication ?? [])
        + order.compactMap { slot in
          outcomes[slot].map { outcome in
            RestorationReport.Entry(
              kind: document[slot].place.role.kind,
              path: paths[slot],
              className: document.form(of: slot).className, outcome: outcome,
              notes: notes[slot] ?? [])
          }
        }
    }
  }

  private func notes(_ after: Document) -> [Int32: [ReportNote]] {
    var all: [Int32: [ReportNote]] = [:]
    let ofApplication = outcomes.notes(of: Document.tree)
    if !ofApplication.isEmpty { all[Document.tree] = ofApplication }
    for slot in order {
      guard let outcome = outcomes[slot] else { continue }
      var notes: [ReportNote] = []
      if outcome.isDecodable, let version = reading(of: slot).migratedFrom {
        notes.append(.migrated(from: version))
      }
      if outcome.wasAsked, !restored.mended.isEmpty { notes += restored.mended[slot]?.notes ?? [] }
      notes += outcomes.notes(of: slot)
      if after.isKept(slot) { notes.append(.kept) }
      if !after.unread.isEmpty {
        notes += (after.unread[slot] ?? []).map {
          .keptBeside(version: document.forms[Int($0.form)].version, since: $0.since)
        }
      }
      if outcome.wasAsked, let note = coders.unreadNote(Int(slot)) { notes.append(note) }
      if !notes.isEmpty { all[slot] = notes }
    }
    return all
  }
}

extension Document {
  /// Since when an element is kept, be it below another one; nil if it is not, or in no save yet.
  fileprivate func keptSince(_ slot: Int32) -> Date? {
    guard !kept.isEmpty else { return nil }
    var slot = slot
    while slot > Self.tree {
      if let kept = kept[slot] { return kept.since }
      slot = self[slot].place.parent
    }
    return nil
  }
}

extension UnreadBody.Reason {
  /// Whether the object has read nothing of its own body, so that it is asked at the end of the restore
  /// what it says without it.
  fileprivate var isOfWhole: Bool {
    switch self {
    case .newerVersion, .migrationFailed, .leftOut, .replaced: true
    case .decodeThrew, .fieldReplaced, .otherClass: false
    }
  }
}

extension ReportNote {
  fileprivate var isOfApplication: Bool {
    if case .didDecodeFailed = self { true } else { false }
  }
}
