/// References from objects to objects.
extension PreservationWalk {
  private func kind(of object: any StateRestoring) -> ElementKind {
    switch object {
    case is any RestorableNode: .node
    case is any RestorableView: .view
    default: .object
    }
  }

  /// The record of an object that is referred to; nil if it cannot be referred
  /// to, which is noted.
  func reference(
    to object: any StateRestoring, from referrer: RowNumber?, key: String
  ) -> UInt64? {
    // The application is asked first, before it is known which objects have their place.
    if let referrer, let placed = rows.placed(object) {
      noteReference(to: placed, from: referrer)
      return placed.record
    }
    guard objects.canBeReferred(object) else {
      let className = types.className(of: object)
      rows.note(.referenceWithoutIdentifier(key: key, className: className), referrer)
      // The object may get an identifier later.
      rows.whole.canDiff = false
      return nil
    }
    agenda.referrals.append(WalkAgenda.Referral(object: object, referrer: referrer, key: key))
    return row(of: object, kind(of: object)).record
  }

  /// Remembers which row refers to an element that nothing contains.
  func noteReference(to target: RowNumber, from referrer: RowNumber?) {
    rows[target].reach.isReferredTo = true
    if rows[target].reach.isBelowReference {
      rows.references.all[referrer, default: []].insert(target)
    }
  }

  func follow(_ referral: WalkAgenda.Referral) throws {
    if let number = rows.number(of: referral.object),
      rows[number].met.status == .placed || rows[number].met.isDuplicate
    {
      return
    }
    switch referral.object {
    case let node as any RestorableNode: try follow(referral, to: node)
    case is any RestorableView:
      rows.note(.referenceToUnpreservedView(key: referral.key), referral.referrer)
    case let object as any RestorableObject: try preserveObject(object)
    // Nothing else can be referred to.
    default: break
    }
  }
}
