// A screen whose state has changed twice since it was first stored.

import Foundation
import RestorationKit

@MainActor
final class ZoomScreen: @MainActor RestorableNode {
  let restorationIdentifier = "zoom"
  var title = ""
  var zoom = 1.0

  func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(title, forKey: "title")
    coder.encode(zoom, forKey: "zoom")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    title = try coder.decode(forKey: "title")
    zoom = try coder.decode(forKey: "zoom")
  }

  static func register(with keeper: StateKeeper) throws {
    try keeper.register(
      ZoomScreen.self, aliases: ["DetailScreen"], version: 3,
      migrations: [
        StateMigration(from: 1) { state in try state.rename("name", to: "title") },
        StateMigration(from: 2) { state in
          let percent = try state.decodeIfPresent(Int.self, forKey: "zoom") ?? 100
          try state.encode(Double(percent) / 100, forKey: "zoom")
        },
      ])
  }
}

let keeper = try StateKeeper(application: "org.example.zoom", directory: MemoryStateDirectory())
try ZoomScreen.register(with: keeper)
print(try await keeper.checkStoredState())
