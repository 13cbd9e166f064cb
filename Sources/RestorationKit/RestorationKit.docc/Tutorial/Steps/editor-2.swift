import Foundation
import RestorationKit

@MainActor
final class EditorScreen: @MainActor RestorableScreen {
  @Restored var text = ""
}

// Lines come from a thread of their own, so that the app can do other things while it waits.
let lines = AsyncStream<String> { lines in
  Thread.detachNewThread {
    while let line = readLine() { lines.yield(line) }
    lines.finish()
  }
}

let editor = EditorScreen()
print(editor.text)

for await line in lines {
  editor.text += line + "\n"
}
