import RestorationKit
import RestorationSharing
import Synchronization

/// A way in which a store breaks a promise.
enum RemoteStoreFlaw: CaseIterable, Sendable {
  case emptyIsAState, noLocation, onlyText, cutsAtAMegabyte, firstReplacesAll
  case replaceIgnoresVersions, appendIgnoresVersions, removeIgnoresVersions
  case newerVersionsFit, strangeVersionsThrow
  case versionsOfBytes, appendKeepsTheVersion, versionsBeginAnew
  case appendIsFirst, appendReplaces, appendsAreFew, appendStores
  case removeDoesNothing, namesStay
  case namesAreText, namesWithoutCase, namesAreCut, namesArePatterns, prefixOfCharacters
  case namesAreAPage, readsAreKept, listsAreKept, listsAreOfOwnWrites
  case firstRaces, replaceRaces, appendRaces, removeRaces, removesByName
  case allIsOneDocument, othersAreRefused
  case loadIsTorn, appendIsTorn, removeIsTorn
  case cancelledWriteIsTorn, cancelledRemoveIsTorn, cancelledCallEndsAll
  case removalsUntold, appendsUntold, oneListenerIsTold, untrueVersionsAreTold, beginsUntold
  case removedVersionsAreTold, appendedVersionsAreTold, toldTooEarly

  static let ofTelling: [Self] = [
    .removalsUntold, .appendsUntold, .oneListenerIsTold, .untrueVersionsAreTold, .beginsUntold,
    .removedVersionsAreTold, .appendedVersionsAreTold, .toldTooEarly,
  ]
}

/// A store in memory with a flaw, opened as often as one likes.
final class FlawedRemoteStore: RemoteStateStore {
  /// What all have in common who open it.
  final class Place: Sendable {
    fileprivate struct Content {
      var states: [[UInt8]: Stored] = [:]
      /// What loads see in place of the stored bytes.
      var shown: [[UInt8]: [UInt8]] = [:]
      var busy: Set<[UInt8]> = []
      var removed: [String] = []
      var versionCount = 0
      var isBroken = false
      var listeners: [AsyncStream<RemoteChange>.Continuation] = []
    }

    fileprivate struct Stored {
      let name: String
      var bytes: [UInt8]
      var version: RemoteVersion
      var appendCount = 0
    }

    fileprivate let content = Mutex(Content())
    /// How many have looked at what they change.
    fileprivate let arrivalCount = Atomic(0)
  }

  private let place: Place
  private let flaw: RemoteStoreFlaw
  private let kept = Mutex<[String: RemoteState]>([:])
  private let keptLists = Mutex<[String: [String]]>([:])
  private let written = Mutex<Set<[UInt8]>>([])

  init(_ place: Place, _ flaw: RemoteStoreFlaw) {
    (self.place, self.flaw) = (place, flaw)
  }

  var location: String { flaw == .noLocation ? "" : "memory" }

  func load(_ name: String) async throws -> RemoteState? {
    if flaw == .readsAreKept, let state = kept.withLock({ $0[name] }) { return state }
    let key = key(name)
    var (stored, shown) = place.content.withLock { ($0.states[key], $0.shown[key]) }
    if let shown { stored?.bytes = shown }
    if flaw == .loadIsTorn {
      await turns(20)
      if let bytes = place.content.withLock({ $0.states[key]?.bytes }) { stored?.bytes = bytes }
    }
    guard let stored else {
      return flaw == .emptyIsAState ? RemoteState(bytes: [], version: RemoteVersion("0")) : nil
    }
    let state = RemoteState(bytes: stored.bytes, version: stored.version)
    kept.withLock { $0[name] = state }
    return state
  }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    let fits =
      flaw == .replaceIgnoresVersions && version != nil
      || flaw == .firstReplacesAll && version == nil
    let races = flaw == .firstRaces && version == nil || flaw == .replaceRaces && version != nil
    return try await change(name, expecting: version, fits: fits, races: races) { stored in
      switch self.flaw {
      case .onlyText: stored.bytes = Array(String(decoding: bytes, as: UTF8.self).utf8)
      case .cutsAtAMegabyte: stored.bytes = Array(bytes.prefix(1 << 20))
      case .cancelledWriteIsTorn where Task.isCancelled:
        stored.bytes = Array(bytes.prefix(bytes.count / 2))
      default: stored.bytes = bytes
      }
      stored.appendCount = 0
    }
  }

  func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    let key = key(name)
    let stored = place.content.withLock { $0.states[key] }
    if flaw != .appendStores, stored == nil { return nil }
    if flaw == .appendIsTorn, let stored, stored.version == version {
      await show(stored.bytes + bytes.prefix(bytes.count / 2), at: key)
    }
    let fits =
      flaw == .appendIgnoresVersions || flaw == .appendStores && stored == nil
    return try await change(
      name, expecting: version, fits: fits, races: flaw == .appendRaces
    ) { stored in
      stored.appendCount += 1
      switch self.flaw {
      case .appendIsFirst: stored.bytes = bytes + stored.bytes
      case .appendReplaces: stored.bytes = bytes
      case .appendsAreFew where stored.appendCount > 128: break
      default: stored.bytes += bytes
      }
    }
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    let key = key(name)
    try refuseStrange(version)
    let isFitting = place.content.withLock { content in
      flaw == .removeIgnoresVersions
        ? content.states[key] != nil : fits(content.states[key]?.version, version)
    }
    guard isFitting else { return false }
    switch flaw {
    case .removeRaces: await meet()
    case .removesByName: await turns(20)
    case .removeIsTorn: await show([], at: key)
    case .cancelledRemoveIsTorn where Task.isCancelled:
      place.content.withLock { $0.states[key]?.bytes = [] }
      throw CancellationError()
    default: break
    }
    let listeners = place.content.withLock { content -> [AsyncStream<RemoteChange>.Continuation]? in
      let found = content.states[key]?.version
      let isFitting =
        switch flaw {
        case .removeRaces: true
        case .removesByName, .removeIgnoresVersions: found != nil
        default: fits(found, version)
        }
      guard isFitting else { return nil }
      if flaw != .removeDoesNothing { content.states[key] = nil }
      content.removed.append(name)
      return content.listeners
    }
    let told = flaw == .removedVersionsAreTold ? version : nil
    if flaw != .removalsUntold {
      for listener in listeners ?? [] { listener.yield(RemoteChange(name: name, version: told)) }
    }
    return listeners != nil
  }

  func names(prefix: String) async throws -> [String] {
    if flaw == .listsAreKept, let list = keptLists.withLock({ $0[prefix] }) { return list }
    let (all, removed) = place.content.withLock { content in
      (content.states.values.map(\.name), content.removed)
    }
    let found = (flaw == .namesStay ? all + removed : all).filter { name in
      switch flaw {
      case .listsAreOfOwnWrites where !written.withLock({ $0.contains(Array(name.utf8)) }):
        return false
      case .prefixOfCharacters: return prefix.isEmpty || name.hasPrefix(prefix)
      case .namesArePatterns: return Array(name.utf8).isLike(Array(prefix.utf8) + Array("%".utf8))
      default: return name.utf8.starts(with: prefix.utf8)
      }
    }
    keptLists.withLock { $0[prefix] = found }
    return flaw == .namesAreAPage ? Array(found.prefix(1000)) : found
  }

  func changes() -> AsyncStream<RemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemoteChange.self)
    place.content.withLock { content in
      if flaw == .oneListenerIsTold, !content.listeners.isEmpty { return }
      content.listeners.append(continuation)
      if flaw != .beginsUntold { continuation.yield(.any) }
    }
    return stream
  }

  private func key(_ name: String) -> [UInt8] {
    switch flaw {
    case .namesAreText: Array(name.unicodeScalars.flatMap { spelled($0) })
    case .namesWithoutCase: Array(name.lowercased().utf8)
    case .namesAreCut: Array(name.utf8.prefix(200))
    default: Array(name.utf8)
    }
  }

  /// One spelling of the few characters that the checks have two spellings of.
  private func spelled(_ scalar: Unicode.Scalar) -> [UInt8] {
    switch scalar {
    case "ö": Array("o\u{308}".utf8)
    case "é": Array("e\u{301}".utf8)
    default: Array(String(Character(scalar)).utf8)
    }
  }

  private func change(
    _ name: String, expecting version: RemoteVersion?, fits: Bool, races: Bool,
    _ body: (inout Place.Stored) -> Void
  ) async throws -> RemoteVersion? {
    let key = key(name)
    try refuseStrange(version)
    if flaw == .cancelledCallEndsAll, Task.isCancelled {
      place.content.withLock { $0.isBroken = true }
    }
    if place.content.withLock({ $0.isBroken }) {
      throw RemoteStoreError(.unavailable, "It is of no use any more.")
    }
    let isFitting = place.content.withLock {
      fits || self.fits($0.states[key]?.version, version)
    }
    guard isFitting else { return nil }
    if races { await meet() }
    let document = place.content.withLock { $0.states }
    if flaw == .allIsOneDocument { await turns(20) }
    if flaw == .othersAreRefused {
      guard place.content.withLock({ $0.busy.isEmpty || $0.busy == [key] }) else { return nil }
      place.content.withLock { _ = $0.busy.insert(key) }
      await turns(20)
      place.content.withLock { _ = $0.busy.remove(key) }
    }
    if flaw == .toldTooEarly { await tellTheNextVersion(of: name) }
    let changed = place.content.withLock { content in
      let found = content.states[key]
      guard fits || races || self.fits(found?.version, version) else {
        return nil as (RemoteVersion, [AsyncStream<RemoteChange>.Continuation], Bool)?
      }
      if flaw == .allIsOneDocument { content.states = document }
      var stored = found ?? Place.Stored(name: name, bytes: [], version: RemoteVersion("0"))
      let appendCount = stored.appendCount
      body(&stored)
      content.versionCount += 1
      switch flaw {
      case .versionsOfBytes: stored.version = RemoteVersion("\(stored.bytes.hashValue)")
      case .appendKeepsTheVersion where stored.appendCount > appendCount: break
      case .versionsBeginAnew:
        stored.version = RemoteVersion("\((Int(found?.version.name ?? "") ?? 0) + 1)")
      default: stored.version = RemoteVersion("\(content.versionCount)")
      }
      content.states[key] = stored
      return (stored.version, content.listeners, stored.appendCount > appendCount)
    }
    guard let (new, listeners, isAppended) = changed else { return nil }
    written.withLock { _ = $0.insert(key) }
    let told =
      switch flaw {
      case .untrueVersionsAreTold: RemoteVersion("untrue")
      case .appendedVersionsAreTold where isAppended: version
      default: new
      }
    for listener in listeners where flaw != .appendsUntold || !isAppended {
      listener.yield(RemoteChange(name: name, version: told))
    }
    return new
  }

  private func fits(_ stored: RemoteVersion?, _ expected: RemoteVersion?) -> Bool {
    guard flaw == .newerVersionsFit, let stored = stored.flatMap({ Int($0.name) }),
      let expected = expected.flatMap({ Int($0.name) })
    else { return stored == expected }
    return stored <= expected
  }

  private func refuseStrange(_ version: RemoteVersion?) throws {
    guard flaw == .strangeVersionsThrow, let version, Int(version.name) == nil else { return }
    throw RemoteStoreError(.refused, "A version is a number.")
  }

  private func tellTheNextVersion(of name: String) async {
    let (next, listeners) = place.content.withLock { ($0.versionCount + 1, $0.listeners) }
    for listener in listeners {
      listener.yield(RemoteChange(name: name, version: RemoteVersion("\(next)")))
    }
    await turns(20)
  }

  /// Lets loads see other bytes for a moment.
  private func show(_ bytes: [UInt8], at key: [UInt8]) async {
    place.content.withLock { $0.shown[key] = bytes }
    await turns(20)
    place.content.withLock { $0.shown[key] = nil }
  }

  /// Lets each second one wait for another who has looked at the same, for a while.
  private func meet() async {
    let turn = place.arrivalCount.add(1, ordering: .relaxed).newValue
    guard !turn.isMultiple(of: 2) else { return }
    for _ in 0..<1000 where place.arrivalCount.load(ordering: .relaxed) == turn {
      await Task.yield()
    }
  }

  /// Lets others do something in the meantime.
  private func turns(_ count: Int) async {
    for _ in 0..<count { await Task.yield() }
  }
}

extension [UInt8] {
  /// Whether they are as a pattern of SQL without an escape.
  fileprivate func isLike(_ pattern: [UInt8]) -> Bool {
    guard let first = pattern.first else { return isEmpty }
    let rest = Array(pattern.dropFirst())
    if first == UInt8(ascii: "%") {
      return rest.isEmpty || indices.contains { Array(self[$0...]).isLike(rest) }
    }
    guard let byte = self.first, first == UInt8(ascii: "_") || first == byte else { return false }
    return Array(dropFirst()).isLike(rest)
  }
}
