internal import ArchiveCodec
package import RestorationKit

/// What the library asks and tells the link, in its words.
extension StoreLink: StateLink {
  var isCopyLasting: Bool { remote.isLasting }
  var removalFailure: ArchiveError? { unremoved.map { .storeUnavailable($0) } }

  var isRemovedElsewhere: Bool { remote.theirs.map { conflict(with: $0).isRemoved } ?? false }

  func noteClaimed() { remote.endsLease = false }

  func noteDiscarded() { remote.take(.unwanted) }

  func check() async { await check(claims: false) }

  func sendChanges(isolation: isolated (any Actor)?) async -> LinkOutcome {
    await send(isolation: isolation).forLibrary
  }

  func sendSoon(isolation: isolated (any Actor)?) async -> LinkOutcome {
    await sendWithPatience(isolation: isolation).forLibrary
  }
}

extension RemoteOutcome {
  var forLibrary: LinkOutcome {
    switch self {
    case .sent: .sent
    case .unsent(let error): .unsent(.storeUnavailable(error))
    case .conflict(let conflict): .refused(conflict.refusal)
    }
  }
}

extension RemoteCopy: LinkedCopy {
  var isInConflict: Bool { state.phase(at: changes) == .opposed }
}

extension RemoteStateDirectory: LinkedDirectory {
  package func linkedCopy(ofStateNamed name: String) -> any LinkedCopy { copy(of: name) }

  package func link(stateNamed name: String, _ files: LinkedFiles) -> any StateLink {
    StoreLink(copy(of: name), in: self, files)
  }
}
