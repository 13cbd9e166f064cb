/// Roots that a closure or a delegate of the app gives whenever they are asked for.
extension StateEngine {
  /// Finds out whether roots are made anew in each call, so that a save stores their defaults.
  func checked(_ roots: [any RestorableNode]) -> [any RestorableNode] {
    var (found, new): ([String: [WeakRoot]], Set<String>) = ([:], [])
    for root in roots {
      guard let name = objects.identifier(of: root) else { continue }
      if let last = lastRoots[name], !last.contains(where: { $0() === root }) { new.insert(name) }
      found[name, default: []].append { [weak root] in root }
    }
    // A root may be replaced once, as by a user who logs in again.
    let madeAnew = new.intersection(newRoots).sorted()
    (lastRoots, newRoots) = (found, new)
    if !madeAnew.isEmpty {
      let note = ReportNote.rootsMadeAnew(madeAnew)
      if let values { values.store.note(note) } else { Problems.say([note.description]) }
    }
    return roots
  }

  typealias WeakRoot = () -> (any RestorableNode)?
}
