internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What was set aside, in the store that several machines share.
extension StoreLink {
  /// Stores what was set aside under names of its own, before what took its place.
  ///
  /// What the store refuses must not keep all that follows from it, so that is reported, unless
  /// it is to be thrown.
  func sendAsides(throwsRefusals: Bool = false) async throws {
    guard remote.hasUnsentAsides else { return }
    let count = remote.main.changes.setAsideCount
    var sendsAll = true
    for archive in try remote.unsentAsides() {
      guard let file = try archive.storage.open() else { continue }
      let parcel = RemoteParcel(
        kind: .whole, secrets: [], archive: try file.read(at: 0, count: file.byteCount))
      guard let bytes = parcel.bytes else { continue }
      do {
        try await store(
          bytes, asAside: remote.asideName(archive.reason, archive.date), archive.identifier)
      } catch let error as RemoteStoreError where error.isRefusal && !throwsRefusals {
        refusal = error
        if error.isAboutContent { remote.refuse(archive) } else { sendsAll = false }
      }
    }
    if sendsAll { remote.markAsidesSent(count) }
  }

  /// Why the store does not have what was set aside, once.
  func takeRefusal() -> RemoteStoreError? {
    defer { refusal = nil }
    return refusal
  }

  /// One that has the name already is another one of the same moment, or was sent before.
  ///
  /// Without an identifier it is only in the store.
  @discardableResult
  func store(
    _ bytes: [UInt8], asAside name: String, _ identifier: String?
  ) async throws -> RemoteCopy.StoredAside {
    for number in 1...Self.largestRoundCount {
      let name = number == 1 ? name : "\(name)-\(number)"
      guard let version = try await store(bytes, at: name) else { continue }
      let aside =
        identifier.map {
          RemoteCopy.StoredAside(name: name, version: version, identifier: $0, stored: nil)
        } ?? remote.stored(asideNamed: name, version)
      remote.note(aside)
      return aside
    }
    throw RemoteStoreError(
      .damaged, "\(remote.store.location) has others in the place of “\(name)”. Remove them.")
  }

  /// The version that has the bytes; nil if another one has the name.
  ///
  /// As with a state, a place comes first.
  private func store(
    _ bytes: [UInt8], at name: String,
  ) async throws -> RemoteVersion? {
    let empty = StoredLease.place(at: remote.now()).parcel(.random()).bytes ?? []
    var place = try await remote.store.replace(name, with: empty, expecting: nil)
    for _ in 0..<2 {
      if let place,
        let version = try await remote.store.replace(name, with: bytes, expecting: place)
      {
        return version
      }
      guard let there = try await remote.store.load(name) else { return nil }
      let content = RemoteContent(there.bytes)
      if content.archive == RemoteContent(bytes).archive { return there.version }
      guard content.isPlace else { return nil }
      place = there.version
    }
    return nil
  }

  /// Finds what the store has that was set aside, also by other machines.
  ///
  /// - Parameter removesPlaces: Whether places of others go, too, to which nothing has come yet.
  /// - Throws: `storeUnavailable`.
  func fetchAsides(removesPlaces: Bool = false) async throws(ArchiveError) {
    try await askStore {
      let names = try await remote.store.names(prefix: remote.name + StateClaim.asideMark)
      for name in names.sorted()
      where StateClaim.canNameFile(name) && !remote.knows(asideNamed: name) {
        guard remote.aside(named: name) != nil, let stored = try await remote.store.load(name)
        else {
          continue
        }
        let content = RemoteContent(stored.bytes)
        guard !content.isPlace else {
          if removesPlaces {
            _ = try await remote.store.remove(name, expecting: stored.version)
          } else {
            try await remove(content, stored.version, as: name)
          }
          continue
        }
        remote.note(remote.stored(asideNamed: name, stored.version))
      }
    }
  }

  /// Calls with what was set aside, which is loaded for that if it is only in the store.
  ///
  /// - Returns: Nil if it is gone.
  func with<Value>(
    _ archive: SetAsideArchive, _ body: () throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value? {
    guard let aside = remote.remoteAside(archive) else {
      return try body()
    }
    var stored: RemoteState?
    try await askStore { stored = try await remote.store.load(archive.identifier) }
    guard let stored else { return nil }
    aside.hold(RemoteContent(stored.bytes).archive)
    defer { aside.hold([]) }
    return try body()
  }

  /// Removes a place to which no scene has come for long.
  func removeOldPlace() async {
    guard !remote.hasLease else { return }
    do {
      guard let stored = try await remote.store.load(remote.name) else { return }
      try await remove(RemoteContent(stored.bytes), stored.version, as: remote.name)
    } catch {
      // It goes after a later look.
    }
  }

  private func remove(
    _ content: RemoteContent, _ version: RemoteVersion, as name: String
  ) async throws {
    guard content.isPlace, let end = content.lease?.end,
      remote.now().timeIntervalSince(end) > Self.longestPlace
    else { return }
    _ = try await remote.store.remove(name, expecting: version)
  }

  /// In seconds: a first save takes less, also by a clock that is wrong.
  private static let longestPlace = 24.0 * 60 * 60

  /// The names of what the store has, as far as they can be those of files here; none if
  /// nothing is shared.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String] {
    do {
      return try await remote.store.names(prefix: prefix).filter(StateClaim.canNameFile)
    } catch  where remote.isLasting {
      // Those that are here are what there is without the store.
      remote.tell(.unavailable(RemoteStoreError(error)))
      return []
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }

  /// Removes from the store what was set aside and is gone here.
  ///
  /// What cannot be removed is tried again in a while; the state is stored all the same.
  func sendRemovedAsides() async {
    removalFailure = nil
    guard remote.hasRemovedAsides else { return }
    do {
      try await removeAsides()
      remote.markRemovedAsidesSent()
    } catch {
      removalFailure = RemoteStoreError(error)
      tryAgain()
    }
  }

  private func removeAsides() async throws {
    var gone = try remote.removedAsides()
    while !gone.isEmpty {
      for aside in gone {
        let version =
          if let version = aside.version { version } else {
            try await remote.store.load(aside.name)?.version
          }
        // One that is there in another version was stored by somebody else.
        if let version { _ = try await remote.store.remove(aside.name, expecting: version) }
        remote.forget(aside)
      }
      // While the store was asked, others may have gone.
      gone = try remote.removedAsides()
    }
  }
}
