import Foundation
import RestorationKit

@MainActor
final class EditorScreen: @MainActor StatefulNode {
  struct State: Codable {
    var text = ""
  }

  let restorationIdentifier = "editor"
  var restorableState = State()
}

// Lines come from a thread of their own, so that the app can do other things while it waits.
let lines = AsyncStream<String> { lines in
  Thread.detachNewThread {
    while let line = readLine() { lines.yield(line) }
    lines.finish()
  }
}

let editor = EditorScreen()
print(editor.restorableState.text)

for await line in lines {
  editor.restorableState.text += line + "\n"
}
