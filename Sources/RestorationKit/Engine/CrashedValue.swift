/// The value that a launch decoded when it crashed, after its restore had ended.
struct CrashedValue {
  let number: LaunchNote.ValueNumber
  let tags: LaunchNote.Tags
  let applicationVersion: String?
  let bootSession: String?

  /// Whether the launch crashed in the value with a key.
  func isValue(of key: String) -> Bool { tags.number(ofValue: key) == number }

  func isValue(at path: RestorationPath) -> Bool {
    guard let key = path.identifier, isValue(of: key) else { return false }
    return path == ValuesNode.path(of: key)
  }
}

extension LaunchMarker.Stored {
  /// Creates the content that a launch leaves behind whose restore has ended.
  init(
    _ content: LaunchMarker.Content, endedIn value: LaunchNote.ValueNumber?,
    _ tags: LaunchNote.Tags
  ) {
    self.content = content
    let crashed = value.map { number in
      CrashedValue(
        number: number, tags: tags, applicationVersion: content.applicationVersion,
        bootSession: content.bootSession)
    }
    self.content.endRestore { crashed?.isValue(at: $0) == true }
    if crashed == nil { self.content.valueCrashes = [:] }
    crashedValue = crashed
  }

  /// Counts a crash in a value, and leaves the value out after too many in a row.
  mutating func leaveOutCrashedValue(
    of tree: StoredTree, _ threshold: Int, by applicationVersion: String?, at bootSession: String?
  ) {
    guard let crashed = crashedValue.take() else { return }
    if crashed.applicationVersion != applicationVersion { content.valueCrashes = [:] }
    let hasRestarted =
      crashed.bootSession != nil && bootSession != nil && crashed.bootSession != bootSession
    guard crashed.applicationVersion == applicationVersion, !hasRestarted,
      let place = ValueStore.places(in: tree.outline).first(where: { place in
        crashed.isValue(of: tree.outline.identifier(of: place))
      })
    else { return }
    let key = tree.outline.identifier(of: place)
    let count = min(max(0, content.valueCrashes[key] ?? 0), .max - 1) + 1
    content.valueCrashes[key] = count
    guard count >= threshold else { return }
    content.valueCrashes[key] = nil
    _ = content.skipped.add(place, of: tree, after: 0, by: applicationVersion)
  }
}
