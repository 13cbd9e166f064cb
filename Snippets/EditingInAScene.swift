// A model that stores itself in the activity of its window, and restores itself from it.

import RestorationKit

@MainActor
final class AppState {
  static let activityType = "org.example.edit.editing"

  var text = ""
  var isEditing = false

  private enum Key {
    static let text = "text"
    static let isEditing = "isEditing"
  }

  func store(in activity: UserActivity) {
    activity.addUserInfoEntries(from: [Key.text: .string(text), Key.isEditing: .bool(isEditing)])
  }

  func restore(from activity: UserActivity) {
    guard activity.activityType == Self.activityType,
      let text = activity.userInfo[Key.text]?.stringValue,
      let isEditing = activity.userInfo[Key.isEditing]?.boolValue
    else { return }
    self.text = text
    self.isEditing = isEditing
  }
}

@MainActor
final class EditingScene: @MainActor SceneDelegate {
  let state = AppState()

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    if let activity = options.activity(restoring: session) { state.restore(from: activity) }
  }

  func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? {
    let activity = UserActivity(activityType: AppState.activityType)
    activity.title = state.text
    state.store(in: activity)
    return activity
  }
}

let host = SceneHost(try StateKeeper(application: "org.example.edit"))
let start = try await host.start(
  SceneConfiguration { EditingScene() }, declaring: [AppState.activityType])
// What cannot be read does not end the app.
for problem in start.problems { print("Not as it was:", problem.reason) }

for scene in host.connectedScenes {
  guard let state = (scene.delegate as? EditingScene)?.state else { continue }
  print(state.isEditing ? "Editing:" : "New:", state.text)

  // The user goes to the edit screen and types.
  state.isEditing = true
  state.text += "ABC "
  // The next save asks the delegate for the activity.
  scene.needsSave = true
}
do {
  // A real app saves by itself, with host.autosave().
  try await host.saveSessions()
} catch {
  print("Not saved. \(error)")
}
// Without host.terminate() this is what a crash leaves behind; it comes back all the same.
