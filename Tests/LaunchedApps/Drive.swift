import RestorationKit

/// An editor of a file on a drive, which keeps its words until the drive is there.
///
/// A line is typed; “mount” brings the drive, as the argument does from the start. Then the restoration ends.
@MainActor
enum Drive {
  static func main() async throws {
    DriveEditor.isMounted = arguments.first == "mounted"
    let editor = DriveEditor()
    let keeper = try await Restoration.begin("org.example.drive") { [editor] }
    print(editor.words)
    let line = await nextLine() ?? ""
    if line == "mount" {
      DriveEditor.isMounted = true
      try await keeper.restore(late: editor)
    } else {
      editor.words = line
    }
    let isStored = await Restoration.end()
    let kept = try Restoration.lastSave?.get().kept ?? []
    print(isStored ? "\(editor.words), \(kept.count) kept" : "not stored")
    _ = await nextLine()
  }
}

@MainActor
private final class DriveEditor: @MainActor RestorableNode {
  struct NotMounted: Error {}

  static var isMounted = false
  let restorationIdentifier = "editor"
  var words = "" {
    didSet { invalidateRestorableState() }
  }

  func encodeRestorableState(with coder: StateEncoder) { coder.encode(words, forKey: "words") }

  func decodeRestorableState(with coder: StateDecoder) throws {
    guard Self.isMounted else { throw NotMounted() }
    words = try coder.decode(forKey: "words")
  }
}
