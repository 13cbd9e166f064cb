// A screen whose state has changed twice since it was first stored.

import RestorationKit

@MainActor
final class ZoomScreen: @MainActor RestorableScreen {
  @Restored var title = ""
  @Restored var zoom = 1.0
  // In a field that is new, an older state has nothing: it keeps this value.
  @Restored var isPinned = false
}

let screen = ZoomScreen()
// snippet.begin
try await Restoration.begin("org.example.zoom") {
  [screen]
} prepare: { keeper in
  try keeper.register(
    ZoomScreen.self, aliases: ["DetailScreen"], version: 3,
    migrations: [
      1: { state in try state.rename("name", to: "title") },
      2: { state in
        let percent = try state.decodeIfPresent(Int.self, forKey: "zoom") ?? 100
        try state.encode(Double(percent) / 100, forKey: "zoom")
      },
    ])
}
// snippet.end
screen.zoom += 0.5
print("Zoom:", screen.zoom)
