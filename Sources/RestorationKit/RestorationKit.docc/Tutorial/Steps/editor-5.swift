import Foundation
import RestorationKit

@MainActor
final class EditorScreen: @MainActor RestorableScreen {
  @Restored var text = ""
  var find: FindScreen? { didSet { invalidateRestorableState() } }

  var restorationPresented: (any RestorableNode)? { find }

  func restorePresented(_ node: any RestorableNode) { find = node as? FindScreen }
}

@MainActor
final class FindScreen: @MainActor RestorableScreen {
  @Restored var word = ""
}

// Lines come from a thread of their own, so that the app can do other things while it waits.
let lines = AsyncStream<String> { lines in
  Thread.detachNewThread {
    while let line = readLine() { lines.yield(line) }
    lines.finish()
  }
}

let editor = EditorScreen()
try await Restoration.begin("org.example.editor") { [editor] }
switch Restoration.report {
case .success(let report): print(report)
case .failure(let error): print(error)
case nil: break
}
print(editor.text)
if let find = editor.find { print("Looking for:", find.word) }

for await line in lines {
  if line.hasPrefix("find ") {
    let find = FindScreen()
    find.word = String(line.dropFirst("find ".count))
    editor.find = find
  } else if line == "done" {
    editor.find = nil
  } else {
    editor.text += line + "\n"
  }
}
await Restoration.end()
