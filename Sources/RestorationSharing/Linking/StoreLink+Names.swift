internal import ArchiveCodec
internal import RestorationKit

/// The names in the store that several machines share.
extension StoreLink {
  /// Removes states of other instances from the store, unless an instance has one of them.
  ///
  /// Without leases nobody knows whether an instance on another machine has a state,
  /// so nothing is removed.
  func removeNumberedStates(of claim: StateClaim) async throws(ArchiveError) {
    guard remote.leasing != nil else { return }
    try await askStore {
      var states: [String: [String]] = [:]
      for stored in try await remote.store.names(prefix: "\(claim.name)\(StateClaim.numberMark)") {
        let name = stored.firstRange(of: StateClaim.asideMark).map { stored[..<$0.lowerBound] }
        guard let number = claim.numberedName(in: String(name ?? stored[...])),
          number != claim.taken?.name
        else { continue }
        states[number, default: []].append(stored)
      }
      for (number, names) in states {
        guard try !directory.storage(named: number).isLocked() else { continue }
        var versions: [String: RemoteVersion] = [:]
        var isInUse = false
        for name in names {
          let state = try await remote.store.load(name)
          isInUse = isInUse || remote.otherOwner(of: state) != nil
          versions[name] = state?.version
        }
        guard !isInUse else { continue }
        for (name, version) in versions {
          _ = try await remote.store.remove(name, expecting: version)
        }
      }
    }
  }

  /// The names in the store that can be names of files here; none if nothing is shared.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String] {
    do {
      return try await remote.store.names(prefix: prefix).filter(StateClaim.canNameFile)
    } catch  where remote.isLasting {
      // Without the store, only the names of local files are known.
      remote.tell(.unavailable(RemoteStoreError(error)))
      return []
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }
}
