// An editor whose words come back, and are not saved over what somebody else has written meanwhile.

import Foundation
import RestorationDrafts
import RestorationKit

// snippet.editor
final class Editor: RestorableScreen {
  @Restored var draft = Draft("")
  private let url: URL

  init(_ url: URL) { self.url = url }

  /// The file as it is now, as a draft in which nothing is changed.
  func theirs() throws -> Draft<String> {
    // First the stamp: what is written after it shows as a conflict.
    let stamp = try FileStamp(of: url)
    let text = try String(contentsOf: url, encoding: .utf8)
    return Draft(text, of: stamp, base: text)
  }

  /// Saves the draft; returns the file instead if the user has to choose.
  func save() throws -> Draft<String>? {
    switch draft.state(of: url) {
    case .clean, .orphaned: break
    case .unreadable(let error): throw error
    case .conflict:
      let theirs = try theirs()
      // The same words are no question: the app may have ended right after it had saved them.
      if theirs.content != draft.content { return theirs }
    }
    try draft.content.write(to: url, atomically: true, encoding: .utf8)
    draft = try theirs()
    return nil
  }

  /// Goes on with what the user has chosen, from the file that the user has seen.
  func choose(_ text: String, over theirs: Draft<String>) {
    draft = theirs
    draft.content = text
  }
}
// snippet.end

let url = URL(filePath: CommandLine.arguments.dropFirst().first ?? "note.txt")
let editor = Editor(url)
try await Restoration.begin("org.example.drafts") { [editor] }
let isEdited = editor.draft.content != editor.draft.base ?? ""
if !isEdited, FileManager.default.fileExists(atPath: url.path) {
  editor.draft = try editor.theirs()
}
var seen: Draft<String>?
print(editor.draft.content, terminator: "")
while let line = readLine() {
  let mine = editor.draft.content
  switch (line, seen) {
  case ("save", _):
    seen = try editor.save()
    if let seen { print("Changed meanwhile:\n\(seen.content)mine, theirs or both?") }
  case ("mine", let theirs?): editor.choose(mine, over: theirs)
  case ("theirs", let theirs?): editor.choose(theirs.content, over: theirs)
  case ("both", let theirs?): editor.choose(mine + theirs.content, over: theirs)
  default: editor.draft.content += line + "\n"
  }
}
