// Ten values of an app and two windows, each with a text of its own.

import RestorationKit

@main @MainActor
struct Mail {
  // snippet.values
  @Restored("account") static var account = "home"
  @Restored("folder") static var folder = "Inbox"
  @Restored("sorting") static var sorting = ["date"]
  @Restored("unread") static var showsUnread = false
  @Restored("zoom") static var zoom = 1.0
  @Restored("sidebar") static var sidebar = 200
  @Restored("search") static var search = ""
  @Restored("path") static var path: [String] = []
  @Restored("selection") static var selection: Set<Int> = []
  @Restored("signature") static var signature = ""
  // snippet.end

  static func main() async throws {
    // snippet.windows
    let host = SceneHost(try await Restoration.begin("org.example.mail"))
    try await host.start(SceneConfiguration { MailWindow() })
    if host.connectedScenes.count < 2 { try await host.open() }
    // snippet.end

    // The user works.
    search += "x"
    let windows = host.connectedScenes.compactMap { $0.delegate as? MailWindow }
    windows.first?.text?.text += "Dear all, "
    print("Windows: \(windows.count), \(windows.first?.text?.text ?? "")")
    // snippet.end-of-app
    await Restoration.end()
    // snippet.end
  }
}

@MainActor
final class MailWindow: @MainActor SceneDelegate {
  // snippet.window
  struct Text {
    @Restored("text") var text = ""
  }

  var text: Text?

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    text = Restoration.scope(scene) { Text() }
  }
  // snippet.end
}
