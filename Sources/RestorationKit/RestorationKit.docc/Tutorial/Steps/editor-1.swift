@MainActor
final class EditorScreen {
  var text = ""
}

let editor = EditorScreen()
print(editor.text)

while let line = readLine() {
  editor.text += line + "\n"
}
