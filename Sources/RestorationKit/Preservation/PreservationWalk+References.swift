/// Names and references: what tells elements apart, and who refers to whom.
extension PreservationWalk {
  // MARK: Names

  /// What tells apart all that lies below one row.
  struct Sibling: Hashable {
    let kind: ElementKind
    let parent: RowNumber?
    let identifier: String
    let index: Int

    init(_ kind: ElementKind, below parent: RowNumber?, _ identifier: String, index: Int = 0) {
      self.kind = kind
      self.parent = parent
      self.identifier = identifier
      self.index = index
    }

    init(_ content: NodeRecord, below parent: RowNumber?) {
      self.init(content.kind, below: parent, content.identifier, index: content.siblingIndex)
    }
  }

  /// Takes a name for what comes after the contained nodes, or from elsewhere;
  /// false if another one has it.
  func take(_ sibling: Sibling) -> Bool {
    if sibling.kind == .node, let parent = sibling.parent,
      namedParents.insert(parent).inserted
    {
      for child in rows.children(of: parent) + [rows[parent].presented].compactMap(\.self) {
        siblings.insert(
          Sibling(
            .node, below: parent, rows[child].identifier, index: Int(rows[child].siblingIndex)))
      }
    }
    if sibling.kind == .object, !asksEverything, !namesObjects {
      namesObjects = true
      for object in rows.placed where rows[object].kind == .object {
        siblings.insert(Sibling(.object, below: rows[object].parent, rows[object].identifier))
      }
    }
    return siblings.insert(sibling).inserted
  }

  // MARK: References

  private func kind(of object: any StateRestoring) -> ElementKind {
    switch object {
    case is any RestorableNode: .node
    case is any RestorableView: .view
    default: .object
    }
  }

  /// The record of what is referred to; nil if it cannot be, which is noted.
  func reference(
    to object: any StateRestoring, from referrer: RowNumber?, key: String
  ) -> UInt64? {
    // The application comes first, before it is known what has its place.
    if let referrer, let placed = rows.placed(object) {
      noteReference(to: placed, from: referrer)
      return placed.record
    }
    guard !isLeftOut(object) else {
      if let referrer { rows[referrer].isIncomplete = true }
      return nil
    }
    guard objects.canBeReferred(object) else {
      let className = types.className(of: object)
      rows.note(.referenceWithoutIdentifier(key: key, className: className), referrer)
      // It may get one.
      rows.isRegular = false
      return nil
    }
    referrals.append(Referral(object: object, referrer: referrer, key: key))
    keepAlive(object)
    return row(of: object, kind(of: object)).record
  }

  /// Remembers who refers to what nothing contains.
  func noteReference(to target: RowNumber, from referrer: RowNumber?) {
    rows[target].isReferredTo = true
    if rows[target].isBelowReference { rows.references[referrer, default: []].insert(target) }
  }

  func follow(_ referral: Referral) throws {
    if let number = rows.number(of: referral.object),
      rows[number].status == .placed || rows[number].isDuplicate
    {
      return
    }
    switch referral.object {
    case let node as any RestorableNode: try follow(referral, to: node)
    case is any RestorableView:
      rows.note(.referenceToUnpreservedView(key: referral.key), referral.referrer)
      rows.isRegular = false
    case let object as any RestorableObject: try preserveObject(object)
    // Nothing else can be referred to.
    default: break
    }
  }
}
