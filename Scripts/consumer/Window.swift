// A program with windows that come back, as far as it goes without a screen.

import Foundation
import RestorationGTK
import RestorationKit

MainLoop.attachMainActor()
let places: [any RestorableView.Type] = [WindowSize.self, PanedPosition.self, KeyboardFocus.self]
var hasRun = false
MainLoop.wait { hasRun = true }
guard hasRun else {
  print("The main actor does not run.")
  exit(1)
}
print("RestorationGTK is here, with \(places.count) kinds of places.")
