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
    func element(
      _ slot: Int32, _ form: Int32, _ reason: RestorationReport.NodeOutcome, since: Date?,
      _ byteCount: Int, isStateAlone: Bool
    ) -> KeptElement {
      KeptElement(
        kind: self[slot].place.role.kind, path: paths[slot], className: forms[Int(form)].className,
        reason: reason, isStateAlone: isStateAlone, since: since, byteCount: byteCount)
    }
    // What only a kept body may refer to is there.
    let whole = kept.filter { $0.value.reason != .unreferred }.sorted { $0.key < $1.key }
    let own = withheld.filter { $0.value.reason.staysBeside && kept[$0.key] == nil }
    // The application has no class, and no element of a report.
    let slots = Set(unread.keys).union(own.keys).subtracting([Self.tree])
    return whole.map { slot, kept in
      element(
        slot, self[slot].place.form, kept.outcome ?? .notFound, since: kept.since, kept.byteCount,
        isStateAlone: false)
    }
      + slots.sorted().flatMap { slot in
        let unread: [(Int32, Kept.Reason, Date?, Int)] = (unread[slot] ?? []).reversed().map {
          ($0.form, $0.reason, $0.since, $0.byteCount)
        }
        let own = own[slot].map { [($0.form, $0.reason, Date?.none, $0.byteCount)] } ?? []
        return (unread + own).map { form, reason, since, byteCount in
          element(
            slot, form, outcome(form, reason, types), since: since, byteCount, isStateAlone: true)
        }
      }
  }

  /// Why a body is not read, as this version of the app sees it.
  private func outcome(
    _ form: Int32, _ reason: UnreadBody.Reason, _ types: TypeTable
  ) -> RestorationReport.NodeOutcome {
    let form = forms[Int(form)]
    let known = types.version(ofClass: form.className, restoredBy: form.restorationClassName)
    switch (StateReading(form.version, by: known), reason) {
    case (.newer(let stored, let known), _):
      return .newerVersion(by: .existing, stored: stored, known: known)
    case (_, .leftOut): return .skipped
    case (.failed, .newerVersion), (_, .migrationFailed):
      return .migrationFailed(by: .existing, from: form.version, StateReading.noMigration)
    default: return .laterStateRestored
    }
  }
}
