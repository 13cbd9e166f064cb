#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What stays stored though nobody has claimed or read it, for reports.
extension Document {
  /// The kept elements, then the bodies that the objects of elements have not read.
  func keptElements(_ types: TypeTable) -> [KeptElement] {
    guard !kept.isEmpty || !unread.isEmpty || !withheld.isEmpty else { return [] }
    let paths = StoredPaths(self)
    typealias Line = (Int32, Int32, RestorationReport.NodeOutcome, Date?, Int, isStateAlone: Bool)
    // What only a kept body may refer to is there.
    let whole: [Line] = kept.filter { $0.value.reason != .unreferred }
      .sorted { $0.key < $1.key }.map { slot, kept in
        let form = self[slot].place.form
        return (slot, form, kept.outcome ?? .notFound, kept.since, kept.byteCount, false)
      }
    let own = withheld.filter { $0.value.reason.staysBeside && kept[$0.key] == nil }
    // The application has no class, and no element of a report.
    let slots = Set(unread.keys).union(own.keys).subtracting([Self.tree])
    let bodies: [Line] = slots.sorted().flatMap { slot in
      (unread[slot] ?? []).reversed().map {
        (slot, $0.form, outcome($0.form, $0.reason, types), $0.since, $0.byteCount, true)
      }
        + [own[slot]].compactMap(\.self).map {
          (slot, $0.form, outcome($0.form, $0.reason, types), nil, $0.byteCount, true)
        }
    }
    return (whole + bodies).map { slot, form, reason, since, byteCount, isStateAlone in
      KeptElement(
        kind: self[slot].place.role.kind, path: paths[slot],
        className: head.forms[Int(form)].className,
        reason: reason, isStateAlone: isStateAlone, since: since, byteCount: byteCount)
    }
  }

  /// Why a body is not read, as this version of the app sees it.
  private func outcome(
    _ form: Int32, _ reason: UnreadBody.Reason, _ types: TypeTable
  ) -> RestorationReport.NodeOutcome {
    let form = head.forms[Int(form)]
    let known = types.version(ofClass: form.className, restoredBy: form.restorationClassName)
    switch (StateReading(form.version, by: known), reason) {
    case (.newer(let stored, let known), _):
      return .newerVersion(by: .existing, stored: stored, known: known)
    case (_, .leftOut): return .skipped
    case (.failed, .newerVersion), (_, .migrationFailed):
      return .migrationFailed(by: .existing, from: form.version, StateReading.noMigration)
    default: return .restored(by: .existing)
    }
  }
}
