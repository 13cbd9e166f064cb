import Foundation
import RestorationKit
import RestorationSharing

/// The tabs that this server has open; the others are stored, and opened when somebody asks.
actor Tabs {
  private struct Opening {
    let number: Int
    let task: Task<CatalogTab, any Error>
  }

  private let directory: RemoteStateDirectory
  private let entries: Entries
  private let accounts: Accounts
  private let keys: UserKeys
  private let environment: ApplicationEnvironment
  let records: SessionRecords
  private var open: [String: Opening] = [:]
  private var openingCount = 0
  private var isEnded = false

  /// - Parameters:
  ///   - store: Where the states are.
  ///   - accounts: The users whose tabs they are.
  ///   - keys: Where the keys of users are.
  ///   - server: What others that share the store call this server.
  init(_ store: any RemoteStateStore, _ accounts: Accounts, keys: UserKeys, server: String) {
    // Without `launches`, since a restore of a tab decodes values and runs nothing else that could
    // end the process. Where one might, it takes a directory that no other server uses.
    directory = RemoteStateDirectory(store)
    entries = Entries(store: store)
    records = SessionRecords(entries: entries)
    (self.accounts, self.keys) = (accounts, keys)
    environment = ApplicationEnvironment(deviceName: server)
  }

  /// Names the state of a tab.
  ///
  /// The user is a part of it, so the tab of another user is one that
  /// was never stored: nothing tells the two apart.
  static func stateName(_ id: RandomName, of user: User) -> String {
    prefix(of: user) + id.description
  }

  static let mostTabs = 200

  static func prefix(of user: User) -> String { "tab-\(user.mark)-" }

  /// Makes a tab, which is stored when this returns.
  ///
  /// - Throws: `tooManyTabs` if the user has as many as one may have.
  func make(
    of user: User, showing content: TabContent = TabContent()
  ) async throws -> RandomName {
    guard try await names(of: user).count < Self.mostTabs else { throw WebProblem.tooManyTabs }
    let id = RandomName()
    let name = Self.stateName(id, of: user)
    let opening = opening(name, of: user) { scenes in
      try await CatalogTab(new: name, of: scenes, showing: content)
    }
    let tab = try await opening.task.value
    // Others may have been made meanwhile, also by other servers.
    guard try await names(of: user).count <= Self.mostTabs else {
      try await tab.discard()
      throw WebProblem.tooManyTabs
    }
    return id
  }

  /// Does something with a tab, which is opened for that if nobody has it open.
  ///
  /// - Throws: `notFound` if the user has no such tab.
  func with<Value: Sendable>(
    _ id: RandomName, of user: User, _ body: (CatalogTab) async throws -> Value
  ) async throws -> Value {
    let name = Self.stateName(id, of: user)
    while true {
      let opening = opening(name, of: user) { scenes in
        try await CatalogTab(stored: name, of: scenes)
      }
      do {
        return try await body(opening.task.value)
      } catch is TabIsClosed {
        forget(name, opening.number)
      }
      guard !isEnded else { throw WebProblem.unavailable("The server is being stopped.") }
    }
  }

  private func opening(
    _ name: String, of user: User,
    _ make: @escaping @Sendable (Scenes) async throws -> CatalogTab
  ) -> Opening {
    if let opening = open[name] { return opening }
    openingCount += 1
    let number = openingCount
    let task = Task {
      do {
        let key = try await keys.provider(of: user)
        try await expectAccount(of: user)
        let tab = try await make(
          Scenes(directory: directory, keys: key, environment: environment, records: records))
        do {
          try await expectAccount(of: user)
        } catch {
          try await tab.discard()
          throw error
        }
        return tab
      } catch {
        forget(name, number)
        throw error
      }
    }
    let opening = Opening(number: number, task: task)
    open[name] = opening
    return opening
  }

  /// Makes sure that an account was not removed while a key or a tab of its user was made.
  ///
  /// A removal that ends after this finds them, and one that has ended before is found here.
  private func expectAccount(of user: User) async throws {
    guard try await !accounts.has(user) else { return }
    try await keys.destroyKey(of: user)
    throw WebProblem.signedOut
  }

  private func forget(_ name: String, _ number: Int) {
    if open[name]?.number == number { open[name] = nil }
  }

  /// Tells all pages that this server shows.
  func tell(_ event: TabEvent) async {
    for tab in await openTabs { await tab.tell(event) }
  }

  /// Closes tabs that nobody has looked at for some time.
  func closeUnused(for limit: Duration) async {
    for (name, opening) in open {
      guard let tab = try? await opening.task.value else { continue }
      if await tab.closeIfUnused(for: limit) { forget(name, opening.number) }
    }
  }

  /// Removes all tabs of a user with their older states, which takes no key.
  func removeAll(of user: User) async throws {
    let prefix = Self.prefix(of: user)
    for (name, opening) in open where name.hasPrefix(prefix) {
      // One that could not be opened has nothing to close.
      if let tab = try? await opening.task.value { await tab.close() }
      forget(name, opening.number)
    }
    try await entries.removeAll(prefix: prefix)
    // A kill may have left some without their tabs.
    try await records.removeAll(prefix: prefix)
  }

  /// Closes all of them, before the server ends.
  func closeAll() async {
    isEnded = true
    for tab in await openTabs { await tab.close() }
  }

  /// The names of the states of the tabs that this server has open.
  var openNames: Set<String> {
    get async { Set(await openTabs.map(\.name)) }
  }

  private var openTabs: [CatalogTab] {
    get async {
      var tabs: [CatalogTab] = []
      for opening in open.values {
        // One that could not be opened has told so whoever asked for it.
        if let tab = try? await opening.task.value { tabs.append(tab) }
      }
      return tabs
    }
  }
}

extension Tabs {
  /// The tabs of a user that are stored.
  func names(of user: User) async throws -> [RandomName] {
    let prefix = Self.prefix(of: user)
    return try await stateNames(prefix: prefix)
      .compactMap { RandomName(String($0.dropFirst(prefix.count))) }
      .sorted { $0.description < $1.description }
  }

  /// The names of the states of tabs, without their older states.
  func stateNames(prefix: String = "tab-") async throws -> [String] {
    try await entries.names(prefix: prefix)
      .filter { !$0.contains(".") }
  }
}
