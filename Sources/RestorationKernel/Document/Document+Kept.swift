/// What stays stored though nobody has claimed or read it, for reports.
extension Document {
  /// The kept elements, then the bodies that the objects of elements have not read.
  func keptElements(_ types: TypeTable) -> [KeptElement] {
    guard !kept.isEmpty || !unread.isEmpty || !withheld.isEmpty else { return [] }
    let paths = StoredPaths(self)
    func element(_ slot: Int32, _ form: Int32, _ kept: Kept, isStateAlone: Bool) -> KeptElement {
      KeptElement(
        kind: self[slot].place.role.kind, path: paths[slot],
        className: forms[Int(form)].className, reason: kept.outcome ?? .notFound,
        isStateAlone: isStateAlone, since: kept.since, byteCount: kept.byteCount)
    }
    // What only a kept body may refer to is there.
    let elements = kept.filter { $0.value.reason != .unreferred }.sorted { $0.key < $1.key }
    let own = withheld.filter { $0.value.reason.staysBeside && kept[$0.key] == nil }
    // The application has no class, and no element of a report.
    let slots = Set(unread.keys).union(own.keys).subtracting([Self.tree])
    let bodies = slots.sorted().flatMap { slot in
      (unread[slot] ?? []).reversed().map { body in
        element(
          slot, body.form,
          Kept(
            reason: .notFound, since: body.since, outcome: outcome(body.form, body.reason, types),
            byteCount: body.byteCount), isStateAlone: true)
      }
        + [own[slot]].compactMap(\.self).map { body in
          element(
            slot, body.form,
            Kept(
              reason: .notFound, outcome: outcome(body.form, body.reason, types),
              byteCount: body.byteCount), isStateAlone: true)
        }
    }
    return elements.map { element($0.key, self[$0.key].place.form, $0.value, isStateAlone: false) }
      + bodies
  }

  /// Why a body is not read, as this version of the app sees it.
  private func outcome(
    _ form: Int32, _ reason: UnreadBody.Reason, _ types: TypeTable
  ) -> RestorationReport.NodeOutcome {
    let form = forms[Int(form)]
    let known = types.version(ofClass: form.className, restoredBy: form.restorationClassName)
    if form.version > known.number {
      return .newerVersion(by: .existing, stored: form.version, known: known.number)
    }
    switch reason {
    case .leftOut: return .skipped
    case .migrationFailed,
      .newerVersion where known.steps(from: form.version) == nil:
      return .migrationFailed(
        by: .existing, from: form.version, "there is no migration from this version")
    default: return .laterStateRestored
    }
  }
}

extension UnreadBody.Reason {
  /// Whether the app could not read anything of the body, so that what it says is stored beside it.
  var staysBeside: Bool {
    switch self {
    case .newerVersion, .migrationFailed, .leftOut: true
    case .decodeThrew, .otherClass, .fieldReplaced, .replaced: false
    }
  }
}
