import RestorationKit

@MainActor
final class EditorScreen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "editor"
  var text = ""

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(text, forKey: "text")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    text = try coder.decodeIfPresent(forKey: "text") ?? ""
  }
}

let editor = EditorScreen()
print(editor.text)

while let line = readLine() {
  editor.text += line + "\n"
}
