import RestorationKit

@MainActor
final class EditorScreen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "editor"
  var text = ""
}

let editor = EditorScreen()
print(editor.text)

while let line = readLine() {
  editor.text += line + "\n"
}
