// A window of GTK.

import Foundation
import RestorationGTK
import RestorationKit

struct Product { var id: UUID }

@MainActor
func frame(
  restorationViews: inout [any RestorableView], window: ObjectPointer, editor: ObjectPointer,
  selection: ObjectPointer, scrolled: ObjectPointer, products: [Product],
  changed: @escaping @MainActor () -> Void
) {
  // The block stands here.
}
