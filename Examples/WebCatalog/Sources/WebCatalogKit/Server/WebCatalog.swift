import CatalogModel
import Foundation
package import Hummingbird
import HummingbirdCore
import Logging
import RestorationKit
package import RestorationSharing
import ServiceLifecycle

/// The server: what it shares with others, the tabs that it has open, and its answers.
package struct WebCatalog: Sendable {
  struct Settings: Sendable {
    var store: any RemoteStateStore
    var keys: UserKeys
    /// What other servers call this one.
    var name = ProcessInfo.processInfo.hostName
    var operatorsToken: String?
    var usesSecureCookies = false
    /// Where browsers find the site, as in `https://catalog.example`; nil for those on this
    /// machine alone.
    var publicAddress: String?
    /// When a request has to be whole.
    var requestLimit = Duration.seconds(30)
    /// When a tab that no page shows is closed.
    var unusedLimit = Duration.seconds(60)
    /// How often a page that listens hears something, and it is asked who listens.
    var heartbeat = Duration.seconds(15)
    /// How long a link to another device works, in seconds.
    var linkLifetime = Handovers.lifetime
    /// The time, as sessions count it.
    var now: @Sendable () -> Date = { Date() }
    var address = BindAddress.hostname("127.0.0.1", port: 8080)
  }

  let settings: Settings
  let entries: Entries
  let signatures: Signatures
  let accounts: Accounts
  let products: SharedProducts
  let handovers: Handovers
  let tabs: Tabs
  let pages: Pages
  let forms: Forms
  let sessions: SessionMiddleware
  let streams = EventStreams()

  /// Makes one with the usual settings.
  ///
  /// - Parameters:
  ///   - store: What servers share.
  ///   - keys: The keys of users.
  ///   - pages: The pages, which other servers may show, too.
  /// - Throws: If the store or the keys cannot be read.
  package init(store: any RemoteStateStore, keys: UserKeys, pages: Pages) async throws {
    try await self.init(Settings(store: store, keys: keys), pages: pages)
  }

  init(_ settings: Settings, pages: Pages) async throws {
    self.settings = settings
    entries = Entries(store: settings.store)
    signatures = try await Signatures.shared(in: settings.store, keys: settings.keys)
    accounts = Accounts(entries, signatures, now: settings.now)
    guard let file = ProductFile.bundled else { throw StartProblem("The products are not there.") }
    products = SharedProducts(try Products(file), in: entries)
    _ = try await products.refresh()
    handovers = Handovers(entries: entries, keys: settings.keys, duration: settings.linkLifetime)
    tabs = Tabs(settings.store, accounts, keys: settings.keys, server: settings.name)
    self.pages = pages
    forms = Forms(signatures: signatures)
    sessions = SessionMiddleware(
      signatures: signatures, accounts: accounts, isSecure: settings.usesSecureCookies,
      now: settings.now)
  }

  /// Reads the words that were saved, and tells all pages here of those that are new.
  func refreshProducts() async throws {
    await tell(try await products.refresh())
  }

  func tell(_ changed: [UUID]) async {
    for product in changed { await tabs.tell(.edited(product)) }
  }

  /// Serves until the process is asked to end; then all that is open is closed.
  func run(started: @escaping @Sendable (Int) -> Void) async throws {
    try await application(started: started).runService()
    await tabs.closeAll()
  }

  /// What answers requests, wherever they come from.
  package func application(
    started: @escaping @Sendable (Int) -> Void
  ) -> some ApplicationProtocol {
    var logger = Logger(label: "web-catalog")
    logger.logLevel = .error
    let connections = Connections(limit: Connections.usualLimit)
    return Application(
      router: router(),
      server: .http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [
            RequestDeadline(settings.requestLimit, among: connections)
          ])),
      configuration: ApplicationConfiguration(
        address: settings.address,
        availableConnectionsDelegate: MaximumAvailableConnections(connections.limit)),
      services: [Housekeeping(catalog: self)],
      onServerRunning: { started($0.localAddress?.port ?? 0) },
      logger: logger)
  }
}

/// What is done beside requests: tabs are closed that nobody uses, and changes of other servers
/// are told to the pages of this one.
private struct Housekeeping: Service {
  let catalog: WebCatalog

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup { group in
        group.addTask { await closeUnusedTabs() }
        group.addTask { await tellChanges() }
      }
    }
    await catalog.tabs.closeAll()
  }

  private func closeUnusedTabs() async {
    let limit = catalog.settings.unusedLimit
    while (try? await Task.sleep(for: limit / 4)) != nil {
      await catalog.tabs.closeUnused(for: limit)
      // What is left over is removed the next time.
      try? await catalog.handovers.removeExpired()
    }
  }

  private func tellChanges() async {
    for await change in catalog.settings.store.changes() {
      if change.name == SharedProducts.entry || change == .any {
        // If it cannot be read now, the next page reads it.
        try? await catalog.refreshProducts()
      }
    }
    // A store that tells nothing ends at once, which is no reason to end the rest.
    try? await Task.sleep(for: .seconds(1 << 30))
  }
}
