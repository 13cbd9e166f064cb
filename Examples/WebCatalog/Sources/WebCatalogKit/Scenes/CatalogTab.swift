import Foundation
import RestorationKit
import RestorationSharing

/// One browser tab: its nodes, and the keeper that stores them.
///
/// What `change` has answered is stored: it returns after the save. If the process is killed
/// before that, the page has no answer, and tells its change again, maybe to another server.
///
/// Several servers may have a tab open. If a save finds that another one has stored something,
/// that is restored, and the change is made to it. So any server may answer any request.
actor CatalogTab {
  let name: String
  private let keeper: StateKeeper
  private var window = TabWindow()
  private let records: SessionRecords
  private var facts = SessionFacts()
  private var noting: Task<Void, Never>?
  private var wroteSomething = false
  /// Whether something is shown that no save has stored.
  private var isUnsaved = false

  private var turn: Task<Void, Never>?
  private var watchers: [Int: AsyncStream<TabEvent>.Continuation] = [:]
  private var watcherCount = 0
  private var news: Task<Void, Never>?
  private var lastUse = ContinuousClock.now
  private var isClosed = false

  private static let mostTries = 10
  private static let pauseBeforeNoting = Duration.seconds(1)

  /// A tab that nobody has seen yet; it is stored when this returns.
  init(new name: String, of scenes: Scenes, showing content: TabContent) async throws {
    self.name = name
    records = scenes.records
    keeper = try scenes.keeper(of: name)
    try await begin {
      _ = try await self.restore()
      self.window.content = content
      self.facts.begun = content.window.begun
      try await self.records.make(self.facts, of: name)
      guard try await self.save() else { throw WebProblem.notStored("This tab is there already.") }
    }
  }

  /// A tab that was stored before, maybe by another server.
  ///
  /// - Throws: `notFound` if there is none of this name.
  init(stored name: String, of scenes: Scenes) async throws {
    self.name = name
    records = scenes.records
    keeper = try scenes.keeper(of: name)
    try await begin {
      guard try await self.restore() else {
        // A server that was killed while it made this tab may have left a place for it.
        try await self.removeState()
        throw WebProblem.notFound
      }
    }
  }

  private func begin(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch {
      await keeper.close()
      throw error
    }
    listen()
  }

  // MARK: Saving and restoring

  /// Brings the nodes back; false if nothing is stored.
  private func restore() async throws -> Bool {
    let window = TabWindow()
    let report: RestorationReport
    do {
      report = try await keeper.restore(into: [window])
    } catch {
      throw WebProblem.unavailable("This tab cannot be read.", "\(error)")
    }
    (self.window, isUnsaved) = (window, false)
    facts.begun = window.restorableState.begun
    switch report.outcome {
    case .restored: return true
    case .noArchive: return false
    default: throw WebProblem.unavailable("This tab cannot be read now.", report.headline)
    }
  }

  /// Stores what has changed; false if another server has stored something since.
  private func save() async throws -> Bool {
    let report: PreservationReport
    defer { noteFacts() }
    do {
      report = try await keeper.save([window])
    } catch {
      facts.note("failed: \(error.code)")
      throw WebProblem.notStored("\(error)")
    }
    facts.note(report)
    wroteSomething = report.writtenByteCount > 0
    switch report.outcome {
    case .saved:
      isUnsaved = false
      return true
    case .refused: return false
    default: throw WebProblem.notStored(report.headline)
    }
  }

  /// Stores what could not be stored before; what another server has stored since takes its place.
  private func saveUnsaved() async throws {
    guard isUnsaved else { return }
    if try await !save() { try await restoreAgain() }
  }

  /// Tells operators, but no page waits for that; and once where there are many saves.
  private func noteFacts() {
    guard noting == nil else { return }
    noting = Task {
      try? await Task.sleep(for: Self.pauseBeforeNoting)
      await writeFacts()
    }
  }

  private func writeFacts() async {
    guard noting != nil else { return }
    noting = nil
    do {
      try await records.note(facts, of: name)
    } catch {
      // The next save notes them.
    }
  }

  /// Brings back what another server has stored, in place of what could not be stored here.
  private func restoreAgain() async throws {
    do {
      try await keeper.resolveConflict(keeping: .theirs)
    } catch {
      throw WebProblem.notStored("\(error)")
    }
    guard try await restore() else {
      do {
        try await discardState()
      } catch {
        // The older states of a tab that nobody has any more go with the account.
      }
      await end()
      throw WebProblem.notFound
    }
  }

  /// Whether another server has stored something since; asks the store.
  private var isOld: Bool {
    get async {
      switch await keeper.checkRemoteState() {
      case .newer, .conflict: true
      default: false
      }
    }
  }

  // MARK: Changes

  /// What the tab shows, also if another server has changed it.
  func content() async throws -> TabContent {
    try await inTurn {
      // A page says that what it shows is stored.
      try await self.saveUnsaved()
      if await self.isOld { try await self.restoreAgain() }
      return self.window.content
    }
  }

  /// Takes what a page tells, and stores it.
  ///
  /// - Returns: The revision that is stored now, and what of the change it has not: what
  ///   another page has changed since the page sent it stays.
  func change(_ change: TabChange) async throws -> (revision: Int, refused: [TabValue]) {
    try await inTurn {
      var refused: [TabValue] = []
      let revision = try await self.store(by: change.page) {
        refused = try change.apply(to: &$0)
      }
      return (revision, refused)
    }
  }

  /// Changes what is shown, for a link or a form, and stores it.
  func change(_ change: @escaping @Sendable (inout TabContent) throws -> Void) async throws {
    _ = try await inTurn {
      try await self.store(by: "") { content in
        let before = content
        try change(&content)
        content.window.changes.note(
          content.values(otherThanIn: before), revision: before.window.revision + 1)
      }
    }
  }

  private func store(
    by page: String, _ change: (inout TabContent) throws -> Void
  ) async throws -> Int {
    for _ in 0..<Self.mostTries {
      var content = window.content
      try change(&content)
      if content != window.content {
        content.window.revision += 1
        window.content = content
        isUnsaved = true
      }
      // A save of nothing new asks no store, so it would not see what another server has.
      if try await save(), wroteSomething ? true : await !isOld {
        let revision = window.restorableState.revision
        tell(.changed(revision: revision, by: page))
        return revision
      }
      try await restoreAgain()
    }
    throw WebProblem.notStored("Other devices change this tab all the time.")
  }

  /// One after the other: a change is stored before the next one is made.
  private func inTurn<Value: Sendable>(
    _ body: @escaping () async throws -> Value
  ) async throws -> Value {
    let before = turn
    let task = Task { () async throws -> Value in
      await before?.value
      guard !isClosed else { throw TabIsClosed() }
      lastUse = .now
      return try await body()
    }
    turn = Task { _ = await task.result }
    return try await task.value
  }

  // MARK: Pages that show it

  /// Tells a page what happens, from now on.
  func events() throws -> AsyncStream<TabEvent> {
    guard !isClosed else { throw TabIsClosed() }
    let (events, continuation) = AsyncStream.makeStream(
      of: TabEvent.self, bufferingPolicy: .bufferingNewest(16))
    watcherCount += 1
    let number = watcherCount
    watchers[number] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.forget(number) }
    }
    continuation.yield(.changed(revision: window.restorableState.revision, by: ""))
    return events
  }

  func tell(_ event: TabEvent) {
    for watcher in watchers.values { watcher.yield(event) }
  }

  private func forget(_ watcher: Int) {
    watchers[watcher] = nil
    lastUse = .now
  }

  /// Shows what another server stores, if the store tells of it.
  private func listen() {
    news = Task { [weak self, statuses = keeper.remoteStatusChanges] in
      for await status in statuses {
        if case .newer = status { await self?.showNews() }
      }
    }
  }

  private func showNews() async {
    // What cannot be read now is read by the next request.
    guard let content = try? await content() else { return }
    tell(.changed(revision: content.window.revision, by: ""))
  }

  // MARK: The end

  /// Lets the state go, for the next request or another server; what was stored stays.
  func close() async {
    _ = try? await inTurn {
      // Whoever told it has no answer yet, and tells it again.
      try? await self.saveUnsaved()
      await self.end()
    }
  }

  /// Closes it if no page shows it, and none has for some time.
  func closeIfUnused(for limit: Duration) async -> Bool {
    guard watchers.isEmpty, lastUse.duration(to: .now) >= limit else { return false }
    if isUnsaved {
      // Nobody else has it.
      let before = lastUse
      _ = try? await inTurn { try await self.saveUnsaved() }
      lastUse = before
      guard !isUnsaved else { return false }
    }
    await close()
    return true
  }

  /// Closes it and removes what is stored.
  func discard() async throws {
    try await inTurn {
      if await self.isOld { try await self.restoreAgain() }
      try await self.removeState()
      await self.end()
    }
  }

  private func removeState() async throws {
    do {
      try await discardState()
    } catch {
      throw WebProblem.notStored("\(error)")
    }
    try await records.remove(of: name)
  }

  private func discardState() async throws {
    for moment in try await keeper.history() { try await keeper.remove(moment) }
    try await keeper.discardState()
  }

  private func end() async {
    isClosed = true
    news?.cancel()
    for watcher in watchers.values { watcher.finish() }
    await writeFacts()
    await keeper.close()
  }
}

/// The tab was closed between a request and its turn; the next one opens it again.
struct TabIsClosed: Error {}

extension CustomStringConvertible {
  /// The first line, which in a report names nothing of the user's.
  var headline: String { String(description.prefix { !$0.isNewline }) }
}
