import RestorationKit

/// Two versions of one app, of which the argument names one.
///
/// The newer one has a screen that the older one does not know, below an editor with a field of another type. A line
/// moves the cursor of the editor, and ends the restoration.
@MainActor
enum TwoVersions {
  static func main() async throws {
    let pages = Pages()
    let isNewer = arguments.first == "newer"
    try await Restoration.begin("org.example.pages") {
      [pages]
    } prepare: { keeper in
      if isNewer {
        try keeper.register(Contents.self) { _, _ in Contents() }
        try keeper.register(NewerEditor.self, as: "Editor") { _, _ in NewerEditor() }
      } else {
        try keeper.register(OlderEditor.self, as: "Editor") { _, _ in OlderEditor() }
      }
    }
    if pages.restorationChildren.isEmpty, isNewer {
      let editor = NewerEditor()
      editor.marks = [7, 8]
      pages.restorationChildren = [Contents(), editor]
    }
    print(pages.restorationChildren.map { ($0 as? any Editor)?.text ?? "contents" })
    _ = await nextLine()
    for case let editor as any Editor in pages.restorationChildren { editor.cursor += 1 }
    print(await Restoration.end() ? "stored" : "not stored")
    _ = await nextLine()
  }
}

@MainActor
private final class Pages: @MainActor RestorableScreen, @MainActor RestorableStack {
  var restorationChildren: [any RestorableNode] = [] {
    didSet { invalidateRestorableState() }
  }

  func restoreStack(_ nodes: [any RestorableNode]) { restorationChildren = nodes }
}

@MainActor
private final class Contents: @MainActor RestorableScreen {}

@MainActor
private protocol Editor: AnyObject {
  var cursor: Int { get set }
  var text: String { get }
}

@MainActor
private final class NewerEditor: @MainActor RestorableScreen, Editor {
  let restorationIdentifier = "editor"
  @Restored var marks = [0, 0]
  @Restored var cursor = 0
  var text: String { "\(marks) at \(cursor)" }
}

@MainActor
private final class OlderEditor: @MainActor RestorableScreen, Editor {
  let restorationIdentifier = "editor"
  @Restored var marks = 0
  @Restored var cursor = 0
  var text: String { "\(marks) at \(cursor)" }
}
