import RestorationKit

@MainActor
final class EditorScreen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "editor"
  var text = ""
  var find: FindScreen?

  var restorationPresented: (any RestorableNode)? { find }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(text, forKey: "text")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    text = try coder.decodeIfPresent(forKey: "text") ?? ""
    find = coder.restoredPresented as? FindScreen
  }
}

@MainActor
final class FindScreen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "find"
  let word: String

  init(word: String) { self.word = word }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(word, forKey: "word")
  }
}

let editor = EditorScreen()
let keeper = try StateKeeper(application: "org.example.editor")
keeper.isStrict = true
try keeper.register(FindScreen.self) { _, coder in
  FindScreen(word: try coder.decode(forKey: "word"))
}

do {
  let report = try await keeper.restore(into: [editor])
  print(report.tree)
} catch {
  print("Starting afresh. \(error)")
}
print(editor.text)
if let find = editor.find { print("Looking for:", find.word) }

while let line = readLine() {
  if line.hasPrefix("find ") {
    editor.find = FindScreen(word: String(line.dropFirst("find ".count)))
  } else if line == "done" {
    editor.find = nil
  } else {
    editor.text += line + "\n"
  }
  do {
    print(try await keeper.save([editor]))
  } catch {
    print("Not saved. \(error)")
  }
}
