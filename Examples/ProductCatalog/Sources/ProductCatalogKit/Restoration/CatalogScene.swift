package import CatalogModel
import Foundation
package import RestorationKit

/// One window as a scene: its screens are restored as nodes, and its activity says in the list of
/// windows what it is about.
@MainActor package final class CatalogScene: @MainActor SceneDelegate {
  package static let activityType = "org.restorationkit.product-catalog.window"
  private static let productKey = "product"
  private static let placeKey = "place"

  package let window: Window
  private let catalog: Catalog
  private let windows: Windows

  package init(_ catalog: Catalog, in windows: Windows) {
    self.catalog = catalog
    self.windows = windows
    window = Window(NavigationStack(root: ProductListScreen(catalog: catalog)))
  }

  package func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    window.place = session.userInfo[Self.placeKey]?.integerValue ?? windows.nextPlace
    session.userInfo[Self.placeKey] = .integer(window.place)
    windows.insert(window)
    // What the user wants to see now; where the user was comes back with the nodes.
    guard let id = options.userActivities.first?.userInfo[Self.productKey]?.uuidValue,
      catalog.product(id) != nil
    else { return }
    window.navigation.push(DetailScreen(catalog: catalog, productID: id))
  }

  package func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] {
    [window.navigation]
  }

  package func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? {
    Self.activity(of: window.navigation)
  }

  package func sceneDidDisconnect(_ scene: RestorableScene) {
    windows.remove(window)
  }

  /// What the user is doing in a window.
  package static func activity(of navigation: NavigationStack) -> UserActivity {
    let activity = UserActivity(activityType: activityType)
    // A screen that does not come back is not what the window is about.
    let screens = navigation.screens.filter { !($0 is EarlierScreen) }
    activity.title = screens.map(\.title).joined(separator: " › ")
    if let id = navigation.screens.compactMap({ ($0 as? DetailScreen)?.productID }).last {
      activity.userInfo[productKey] = .uuid(id)
    }
    return activity
  }
}
