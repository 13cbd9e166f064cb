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
let keeper = try StateKeeper(application: "org.example.editor")

do {
  print(try await keeper.restore(into: [editor]))
} catch {
  print("Starting afresh. \(error)")
}
print(editor.text)

while let line = readLine() {
  editor.text += line + "\n"
}
