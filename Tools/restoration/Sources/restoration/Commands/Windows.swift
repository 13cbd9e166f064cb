import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct Windows: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Lists the windows of an app by their titles.",
    discussion: """
      Columns: the title, whether the window is open, closed, discarded or not listed, its role \
      and configuration, the time of its save, bytes, the name of its state, and what is wrong. \
      The window that was used last comes first. A title may be something that a user typed: \
      no other subcommand shows it without --values.
      """)

  @OptionGroup var options: StateOptions

  @Option(help: "List the windows of a session, as history names it.")
  var session: String?

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try options.place.place()
    let lines = try lines(of: place)
    guard !lines.isEmpty else {
      throw Failure(
        .nothingStored,
        session == nil
          ? "No window of \(place.claimName.escaped) is stored in \(place.directory.path.escaped)."
          : "The session has no window.")
    }
    if options.json {
      try output.json { json in try json.array { for line in lines { try line.write(json) } } }
    } else {
      output.table(WindowLine.names, widths: WindowLine.widths, table)
      for line in lines { try line.write(output) }
    }
    return lines.contains { $0.error != nil } ? .damaged : .done
  }

  private func lines(of place: StatePlace) throws -> [WindowLine] {
    let names: [String]
    let found: (StatePlace) throws -> StatePlace?
    if let session {
      let stored = try PutBack.session(session, of: place)
      names = try stored.stateNames(in: place.directory)
      found = { try $0.inSession(stored) }
    } else {
      names = try place.stateNames()
      found = { $0 }
    }
    let prefix = "\(place.claimName).scene-"
    let states = names.filter { $0.hasPrefix(prefix) && !$0.hasSuffix(".remote") }
    // Nobody is asked for a key where there is nothing to open.
    guard !states.isEmpty || names.contains(place.listOfScenes.name) else { return [] }
    let credential = try options.keys.credential(for: place)
    let list = try found(place.listOfScenes).flatMap {
      try WindowList.read(at: $0, with: credential)
    }
    func line(_ entry: WindowList.Entry, _ standing: WindowLine.Standing) throws -> WindowLine {
      let name = prefix + entry.identifier
      let window = try found(place.beside(named: name))
      var line = WindowLine(
        place: window ?? place.beside(named: name), standing: standing,
        title: entry.change?.content.activity?.title ?? entry.title, role: entry.role,
        configurationName: entry.configurationName, savedAt: entry.savedAt)
      if let window { line.read(window, credential) }
      return line
    }
    var lines = try (list?.scenes ?? []).map { try line($0, .open) }
    let listed =
      (list?.scenes ?? []) + (list?.closed ?? []) + (list?.discarded ?? [])
    let known = Set(listed.map { prefix + $0.identifier })
    for name in states.sorted() where !known.contains(name) {
      lines.append(
        try line(WindowList.Entry(identifier: String(name.dropFirst(prefix.count))), .unlisted))
    }
    lines += try (list?.closed ?? []).map { try line($0, .closed) }
    lines += try (list?.discarded ?? []).map { try line($0, .discarded) }
    return lines
  }
}

extension WindowLine {
  /// Takes what the window's own file says, which the list may not know.
  fileprivate mutating func read(_ place: StatePlace, _ credential: ArchiveCredential) {
    do {
      guard let file = try place.storage.open() else { return }
      byteCount = file.byteCount
      savedAt = try place.open(credential).facts?.savedAt ?? savedAt
      guard let content = try WindowList.content(at: place, with: credential) else { return }
      title = title ?? content.activity?.title
      role = role ?? content.role
      configurationName = configurationName ?? content.configurationName
    } catch let error as ArchiveError {
      self.error = error
    } catch {
      self.error = ArchiveError(.malformed, subject: "window")
    }
  }
}
