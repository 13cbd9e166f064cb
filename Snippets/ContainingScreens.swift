// Screens that contain and present others, and one that is made when needed.

import RestorationKit

struct Mail { let folders = ["inbox", "drafts"] }

@MainActor
final class WindowScreen: @MainActor RestorableNode {
  let restorationIdentifier = "window"
  var folder: FolderScreen?
  var alert: AlertScreen?
  // Where the user types: this screen or one of the others.
  weak var focused: (any RestorableNode)?

  var restorationChildren: [any RestorableNode] { [folder].compactMap(\.self) }
  var restorationPresented: (any RestorableNode)? { alert }

  func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(focused, forKey: "focused")
  }

  // Made nodes belong nowhere until the node above takes them.
  func decodeRestorableState(with coder: StateDecoder) throws {
    folder = coder.restoredChildren.first as? FolderScreen
    alert = coder.restoredPresented as? AlertScreen
    // A reference yields the instance that is back, or nil if none is.
    focused = try coder.decodeObject(forKey: "focused")
  }
}

@MainActor
final class FolderScreen: @MainActor RestorableNode {
  let restorationIdentifier = "folder"
  let name: String

  init(name: String) { self.name = name }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(name, forKey: "name")
  }
}

@MainActor
final class AlertScreen: @MainActor RestorableNode {
  let restorationIdentifier = "alert"
}

let mail = Mail()
let window = WindowScreen()
let keeper = try StateKeeper(application: "org.example.mail")
try keeper.register(FolderScreen.self) { path, coder in
  let name = try coder.decode(String.self, forKey: "name")
  // Nil leaves it out: the folder is gone.
  return mail.folders.contains(name) ? FolderScreen(name: name) : nil
}
try keeper.register(AlertScreen.self) { _, _ in AlertScreen() }

print(try await keeper.restore(into: [window]))
print("Folder:", window.folder?.name ?? "none")
window.folder = FolderScreen(name: "drafts")
window.alert = AlertScreen()
window.focused = window.folder
print(try await keeper.save([window]))
