// An app of GTK.

import RestorationGTK
import RestorationKit

struct Catalog {}

final class CatalogScene: SceneDelegate {
  init(_ catalog: Catalog, _ application: ObjectPointer, _ windows: SceneWindows) {}
}

@MainActor
func frame(application: ObjectPointer, keeper: StateKeeper, catalog: Catalog) {
  // The block stands here.
}
