import RestorationKit

/// Mistakes with screens and the trees that they form.
@MainActor
enum ScreenMistakes {
  static let all: [String: Mistakes.App] = [
    "equalChildren": equalChildren,
    "equalRoots": equalRoots,
    "namelessRoot": namelessRoot,
    "namelessChild": namelessChild,
    "forgottenRoot": forgottenRoot,
    "forgottenRootOfALongRun": forgottenRootOfALongRun,
    "newRoots": newRoots,
    "newRootsOfAWindow": newRootsOfAWindow,
    "unannouncedChild": unannouncedChild,
    "lateTab": lateTab,
  ]

  private final class NoteScreen: @MainActor RestorableScreen {
    @Restored var text = ""
  }

  private final class WindowScreen: @MainActor RestorableScreen {
    @Restored var title = ""
    var restorationChildren: [any RestorableNode] = []
  }

  private final class NamelessNode: @MainActor RestorableNode {
    var restorationIdentifier: String? { nil }
  }

  private static func equalChildren() async throws {
    let window = WindowScreen()
    window.restorationChildren = [NoteScreen(), NoteScreen()]
    try await Mistakes.begin { [window] }
    await Restoration.end()
  }

  private static func equalRoots() async throws {
    let screens = [NoteScreen(), NoteScreen()]
    try await Mistakes.begin { screens }
    await Restoration.end()
  }

  private static func namelessRoot() async throws {
    let root = NamelessNode()
    try await Mistakes.begin { [root] }
    await Restoration.end()
  }

  private static func namelessChild() async throws {
    let window = WindowScreen()
    window.restorationChildren = [NamelessNode()]
    try await Mistakes.begin { [window] }
    await Restoration.end()
  }

  private static func forgottenRoot() async throws {
    let screen = NoteScreen()
    try await Mistakes.begin()
    screen.text = "typed"
    await Restoration.end()
    print(screen.text)
  }

  private static func forgottenRootOfALongRun() async throws {
    let screen = NoteScreen()
    try await Mistakes.begin()
    screen.text = "typed"
    _ = await nextLine()
    print(screen.text)
  }

  private static func newRoots() async throws {
    var callCount = 0
    try await Mistakes.begin {
      callCount += 1
      return [NoteScreen()]
    }
    // The restore, the first save of the autosave, and then the end.
    while callCount < 2 { await Task.yield() }
    await Restoration.end()
  }

  @MainActor
  private final class Window: @MainActor SceneDelegate {
    func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { [NoteScreen()] }
  }

  private static func newRootsOfAWindow() async throws {
    let host = SceneHost(try await Restoration.begin("org.example.mistakes"))
    _ = try await host.start(SceneConfiguration { Window() })
    for scene in host.connectedScenes {
      for _ in 0..<3 {
        scene.needsSave = true
        _ = try await host.save(scene)
      }
    }
    await Restoration.end()
  }

  /// The child comes after the first save, since until then each node is asked.
  private static func unannouncedChild() async throws {
    let window = WindowScreen()
    window.title = "Notes"
    try await Mistakes.begin { [window] }
    _ = try await Restoration.keeper?.save([window])
    let child = NoteScreen()
    child.text = "typed"
    window.restorationChildren = [child]
    await Restoration.end()
  }

  private final class Tabs: @MainActor RestorableTabs {
    let restorationIdentifier = "tabs"
    var restorationChildren: [any RestorableNode] = []
    var selectedTab: (any RestorableNode)?
  }

  private final class Tab: @MainActor RestorableNode {
    let restorationIdentifier: String
    init(_ identifier: String) { restorationIdentifier = identifier }
  }

  /// The second tab is built when the user first looks at it.
  private static func lateTab() async throws {
    let tabs = Tabs()
    tabs.restorationChildren = [Tab("first")]
    try await Mistakes.begin { [tabs] }
    let second = Tab("second")
    tabs.restorationChildren.append(second)
    try await Restoration.keeper?.restore(late: second, below: tabs)
    print(tabs.selectedTab === second)
    tabs.selectedTab = second
    await Restoration.end()
  }
}
