/// What a launch decoded when it crashed, after its restore had ended: a value, or an element of a late restore.
struct LaterCrash {
  let number: LaunchNote.LaterNumber
  let tags: LaunchNote.Tags
  let applicationVersion: String?
  let bootSession: String?

  func isIn(_ kind: ElementKind, at path: RestorationPath) -> Bool {
    tags.number(of: kind, at: path) == number
  }
}

extension LaunchMarker.Stored {
  /// Creates the content that a launch leaves behind whose restore has ended.
  init(
    _ content: LaunchMarker.Content, endedIn element: LaunchNote.LaterNumber?,
    _ tags: LaunchNote.Tags
  ) {
    self.content = content
    let crash = element.map { number in
      LaterCrash(
        number: number, tags: tags, applicationVersion: content.applicationVersion,
        bootSession: content.bootSession)
    }
    self.content.endRestore { crash?.isIn($0, at: $1) == true }
    if crash == nil { self.content.laterCrashes = [:] }
    laterCrash = crash
  }

  /// Counts a crash after a restore, and leaves out the value or element after too many in a row.
  mutating func leaveOutLaterCrash(
    of tree: StoredTree, _ threshold: Int, by applicationVersion: String?, at bootSession: String?
  ) {
    guard let crash = laterCrash.take() else { return }
    if crash.applicationVersion != applicationVersion { content.laterCrashes = [:] }
    let hasRestarted =
      crash.bootSession != nil && bootSession != nil && crash.bootSession != bootSession
    let outline = tree.outline
    guard crash.applicationVersion == applicationVersion, !hasRestarted,
      let place = outline.rows.indices.first(where: {
        crash.isIn(outline.rows[$0].kind, at: outline.path(of: $0))
      })
    else { return }
    let path = outline.path(of: place).description
    let count = min(max(0, content.laterCrashes[path] ?? 0), .max - 1) + 1
    content.laterCrashes[path] = count
    guard count >= threshold else { return }
    content.laterCrashes[path] = nil
    _ = content.skipped.add(place, of: tree, after: 0, by: applicationVersion)
  }
}
