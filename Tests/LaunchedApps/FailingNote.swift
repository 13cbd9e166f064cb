import RestorationKit

/// A note that cannot be saved while it has “!”; each line is its text, and is saved.
@MainActor
enum FailingNote {
  static func main() async throws {
    let note = Note()
    let keeper = try await Restoration.begin("org.example.notes", roots: { [note] })
    print("text \(note.text)")
    while let line = await nextLine() {
      note.text = line
      let report = try await keeper.save([note])
      print("problems \(report.problems.count)")
    }
  }
}

@MainActor
private final class Note: @MainActor RestorableNode {
  struct CannotBeSaved: Error, CustomStringConvertible {
    let description: String
  }

  let restorationIdentifier: String? = "note"
  var text = ""

  func encodeRestorableState(with coder: StateEncoder) throws {
    guard !text.contains("!") else { throw CannotBeSaved(description: "“\(text)” is no text.") }
    coder.encode(text, forKey: "text")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    text = try coder.decodeIfPresent(forKey: "text") ?? ""
  }
}
