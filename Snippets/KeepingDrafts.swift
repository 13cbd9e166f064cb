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
    theirs = try draft.refresh(from: url)
    guard theirs == nil else { return }
    let bytes = draft.content.fileBytes()
    try replace(url, with: bytes)
    try draft.markSaved(bytes, at: url)
  }

  func choose(_ text: String) {
    guard let theirs else { return }
    draft.choose(text, over: theirs)
    self.theirs = nil
  }
}
// snippet.end

// snippet.writing
/// Puts a new file in the place of one, or makes it.
///
/// After a power cut one of the two is there, whole.
func replace(_ url: URL, with bytes: Data) throws {
  let files = FileManager.default
  // A link stays a link.
  let place = url.resolvingSymlinksInPath()
  let new = place.deletingLastPathComponent().appending(path: ".\(UUID()).new")
  let old = try? files.attributesOfItem(atPath: place.path)
  // A link that leads nowhere, a folder or a device is not replaced.
  guard old == nil || old?[.type] as? FileAttributeType == .typeRegular else {
    throw CocoaError(.fileWriteUnknown)
  }
  // Nobody else reads the new file before it has the rights of the old one.
  let first: [FileAttributeKey: Any]? = old == nil ? nil : [.posixPermissions: 0o600]
  guard files.createFile(atPath: new.path, contents: nil, attributes: first) else {
    throw CocoaError(.fileWriteNoPermission)
  }
  do {
    let file = try FileHandle(forWritingTo: new)
    try file.write(contentsOf: bytes)
    try file.synchronize()
    try file.close()
    if let old, let mode = old[.posixPermissions] as? NSNumber {
      let made = try files.attributesOfItem(atPath: new.path)
      func hasSame(_ key: FileAttributeKey) -> Bool {
        made[key] as? NSNumber == old[key] as? NSNumber
      }
      // The rights of one group are not those of another one, and nobody gets the rights of a program's owner.
      let kept = hasSame(.ownerAccountID) && hasSame(.groupOwnerAccountID) ? 0o777 : 0o700
      try files.setAttributes([.posixPermissions: mode.intValue & kept], ofItemAtPath: new.path)
    }
    guard rename(new.path, place.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  } catch {
    try? files.removeItem(at: new)
    throw error
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
