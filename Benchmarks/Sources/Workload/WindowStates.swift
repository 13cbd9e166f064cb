package import RestorationKit

/// Windows of some products each, in the state of one keeper.
package final class WindowStates {
  private let pages: [[Product]]
  private let directory: any StateDirectory
  private let keys: any KeyProvider
  private var host: SceneHost?

  package init(_ pages: [[Product]], in directory: any StateDirectory, _ keys: any KeyProvider) {
    (self.pages, self.directory, self.keys) = (pages, directory, keys)
  }

  private func makeHost() throws -> SceneHost {
    let keeper = try StateKeeper(
      application: "org.example.catalog", directory: directory, keys: keys)
    try keeper.register(ProductNode.self)
    let host = SceneHost(keeper)
    host.register(SceneConfiguration { ProductWindow() })
    return host
  }

  /// Opens the windows, saves them, and lets the state go.
  package func save() async throws {
    let host = try makeHost()
    try await host.launch()
    for page in pages {
      let scene = try await host.open()
      scene.session.userInfo = ["product": .string(page[0].identifier)]
      (scene.delegate as? ProductWindow)?.root = ProductRoot(page)
    }
    try await host.saveSessions()
    await host.close()
  }

  /// Brings the windows back as a new process does.
  @discardableResult
  package func restore() async throws -> [[Product]] {
    let host = try makeHost()
    try await host.launch()
    let failures = await host.restoreScenes()
    guard failures.isEmpty else { throw WorkloadError("\(failures)") }
    self.host = host
    return host.connectedScenes.map { ($0.delegate as? ProductWindow)?.root?.products ?? [] }
  }

  /// Changes a product of the first window, and saves that window.
  package func saveChange() async throws {
    guard let host, let scene = host.connectedScenes.first else { return }
    (scene.delegate as? ProductWindow)?.root?.node.restock()
    let report = try await host.save(scene)
    guard report.outcome == .saved, report.writtenByteCount > 0 else {
      throw WorkloadError(report.description)
    }
  }

  package func close() async {
    await host?.close()
    host = nil
  }
}

/// A window of products.
private final class ProductWindow: SceneDelegate {
  var root: ProductRoot?

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    guard let product = session.userInfo["product"]?.stringValue else { return }
    root = ProductRoot(ProductNode(identifier: product))
  }

  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] {
    [root].compactMap(\.self)
  }
}
