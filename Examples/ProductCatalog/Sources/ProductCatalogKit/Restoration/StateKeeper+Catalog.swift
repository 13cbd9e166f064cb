package import CatalogModel
package import RestorationKit

extension StateKeeper {
  /// Makes a keeper of the catalog's screens, which knows how to make those that come and go.
  ///
  /// The list and the navigation stack are there from the start and need no making.
  ///
  /// - Parameters:
  ///   - catalog: Where the products of restored screens come from.
  ///   - store: Where the state is stored; the user's state directory if nil.
  ///   - keys: Where the key comes from; a file in the user's data directory if nil.
  /// - Returns: The keeper, which has read nothing yet.
  /// - Throws: `RestorationError` if a name is not fit to name a state or a class.
  @MainActor package static func ofCatalog(
    _ catalog: Catalog, store: (any StateDirectory)? = nil, keys: (any KeyProvider)? = nil
  ) throws(RestorationError) -> StateKeeper {
    let keeper = try StateKeeper(
      application: "org.restorationkit.product-catalog", directory: store, keys: keys,
      environment: ApplicationEnvironment(
        applicationVersion: Options.version, userInterfaceIdiom: "terminal"))
    keeper.policy.historyCounts[.session] = 10
    try keeper.register(DetailScreen.self) { _, coder in
      try DetailScreen.restored(in: catalog, from: coder)
    }
    try keeper.register(EditScreen.self) { _, coder in
      try EditScreen.restored(in: catalog, from: coder)
    }
    return keeper
  }
}
