import Foundation
import RestorationKit

@MainActor
final class EditorScreen: @MainActor StatefulNode, @MainActor RestorablePresenter {
  struct State: Codable {
    var text = ""
  }

  let restorationIdentifier = "editor"
  var restorableState = State()
  var find: FindScreen?

  var restorationPresented: (any RestorableNode)? { find }

  func restorePresented(_ node: any RestorableNode) { find = node as? FindScreen }
}

@MainActor
final class FindScreen: @MainActor StatefulNode {
  struct State: Codable {
    var word = ""
  }

  let restorationIdentifier = "find"
  var restorableState: State

  init(_ state: State) { restorableState = state }
}

// Lines come from a thread of their own, so that the app can do other things while it waits.
let lines = AsyncStream<String> { lines in
  Thread.detachNewThread {
    while let line = readLine() { lines.yield(line) }
    lines.finish()
  }
}

let editor = EditorScreen()
let keeper = try StateKeeper(application: "org.example.editor")

do {
  print(try await keeper.restore(into: [editor]))
} catch {
  print(error)
}
print(editor.restorableState.text)
if let find = editor.find { print("Looking for:", find.restorableState.word) }

let autosave = keeper.autosave {
  [editor]
} told: { event in
  if case .failed(let error) = event { print("Not saved. \(error)") }
}
autosave.flushOnSignals()

for await line in lines {
  if line.hasPrefix("find ") {
    editor.find = FindScreen(.init(word: String(line.dropFirst("find ".count))))
  } else if line == "done" {
    editor.find = nil
  } else {
    editor.restorableState.text += line + "\n"
  }
  autosave.setNeedsSave()
}
await autosave.flush()
