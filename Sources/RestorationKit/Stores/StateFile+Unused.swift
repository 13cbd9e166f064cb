internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StateFile {
  /// Longer than a vacation; after that nobody waits for a second window.
  static let longestUnused: TimeInterval = 30 * 24 * 60 * 60

  /// Removes what nobody needs any more, once in a launch.
  ///
  /// What cannot be removed now is tried again at the next launch.
  func cleanUp(at now: Date) {
    guard let name = claim.taken?.name else { return }
    note { try removeUnusedStates(at: now) }
    note {
      // No other state can have a name that begins as those of the scenes do.
      try store.removeLeftovers {
        $0 == name || $0 == name + StateKeeper.launchSuffix
          || $0.hasPrefix(name + SceneHost.suffix)
      }
    }
  }

  /// Removes the states with a number that no instance has saved for 30 days.
  ///
  /// Who runs one instance only would never see them again. What cannot be read,
  /// or was saved in the future by this clock, stays, and so does what an
  /// instance has.
  ///
  /// - Throws: What the store throws; a later launch goes on then.
  private func removeUnusedStates(at now: Date) throws(ArchiveError) {
    guard let taken = claim.taken else { return }
    var states: [String: [String]] = [:]
    for name in try store.names() {
      guard let number = claim.numberedName(in: name), number != taken.name else { continue }
      states[number, default: []].append(name)
    }
    for (number, names) in states {
      let lock: any ArchiveLock
      do throws(ArchiveError) {
        lock = try store.storage(named: number).lock()
      } catch {
        guard error.code == .locked else { throw error }
        continue
      }
      defer { withExtendedLifetime(lock) {} }
      let saved = names.filter { !$0.hasSuffix(StateKeeper.launchSuffix) }
      guard saved.allSatisfy({ isUnused($0, at: now) }) else { continue }
      for name in saved {
        let storage = store.storage(named: name)
        for kept in try storage.setAsideArchives() { try kept.storage.remove() }
        try storage.remove()
        try store.launchStorage(ofStateNamed: name).remove()
      }
    }
  }

  private func isUnused(_ name: String, at now: Date) -> Bool {
    do {
      guard
        let archive = try Archive.open(
          store.storage(named: name), key: existingKey(),
          context: ArchiveContext([application, name])),
        let facts = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.factsKey)
      else { return false }
      guard let saved = try SaveFacts(facts).timestamp else { return false }
      return now.timeIntervalSince(saved) > Self.longestUnused
    } catch {
      return false
    }
  }
}

extension StateClaim {
  /// The state with a number that something stored belongs to, nil if it is
  /// none, or of another state.
  func numberedName(in stored: String) -> String? {
    guard stored.hasPrefix("\(name)\(Self.numberMark)") else { return nil }
    let number = stored.dropFirst(name.count + 1).prefix { $0.isASCII && $0.isNumber }
    guard !number.isEmpty else { return nil }
    let rest = stored.dropFirst(name.count + 1 + number.count)
    guard rest.isEmpty || rest.hasPrefix(".") else { return nil }
    return "\(name)\(Self.numberMark)\(number)"
  }
}
