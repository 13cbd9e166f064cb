// An editor whose words come back, and are not saved over what somebody else has written meanwhile.

import Foundation
import RestorationDrafts
import RestorationKit

// snippet.editor
final class Editor: RestorableScreen {
  @Restored var draft = Draft("")
  /// What somebody else has written, while the user has to choose.
  private(set) var theirs: Draft<String>?
  let url: URL

  init(_ url: URL) { self.url = url }

  /// To be called when the app begins and when its window gets the focus.
  func open() throws {
    if draft == Draft(""), draft.state(of: url) == .conflict { draft = try Draft(reading: url) }
    theirs = try draft.refresh(from: url)
  }

  func save() throws {
    theirs = try draft.save(to: url)
  }

  func choose(_ text: String) {
    guard let theirs else { return }
    draft.choose(text, over: theirs)
    self.theirs = nil
  }
}
// snippet.end

let editor = Editor(URL(filePath: CommandLine.arguments.dropFirst().first ?? "note.txt"))
try await Restoration.begin("org.example.drafts") { [editor] }

@MainActor
func tell(_ body: () throws -> Void) {
  do { try body() } catch { print(error) }
  print(editor.draft.content, terminator: "")
  if let theirs = editor.theirs {
    print("Changed meanwhile:\n\(theirs.content)mine, theirs or both?")
  }
}

// Whoever reads on the main thread keeps it from saving.
let lines = AsyncStream<String> { stream in
  Thread.detachNewThread {
    while let line = readLine() { stream.yield(line) }
    stream.finish()
  }
}
tell { try editor.open() }
for await line in lines {
  let (mine, theirs) = (editor.draft.content, editor.theirs?.content ?? "")
  switch line {
  case "save": tell { try editor.save() }
  case "mine": tell { editor.choose(mine) }
  case "theirs": tell { editor.choose(theirs) }
  case "both": tell { editor.choose(mine + theirs) }
  default: editor.draft.content += line + "\n"
  }
}
