internal import ArchiveCodec
internal import RestorationKit

/// Goes on where the local copy of a state is damaged, or is not the copy that was left here.
extension StoreLink {
  /// Asks the store before a doubted copy is used; false if there is no need to, or no way.
  ///
  /// Without the store, a local copy that can be read is restored. It is never sent after that: the
  /// store's state is in conflict with the next save.
  ///
  /// - Throws: `storeUnavailable` if no local archive can be read.
  func loadDoubted() async throws(ArchiveError) -> Bool {
    let finding = remote.finding
    guard finding.isDoubted, !remote.isUnsent else { return false }
    do throws(ArchiveError) {
      try await load()
    } catch {
      guard error.code == .storeUnavailable else { throw error }
      if finding.file == .damaged {
        let moments = try remote.files.moments.all().filter(\.reason.isRestorable)
        guard try remote.readable() != nil || !moments.isEmpty else { throw error }
      }
      if finding.note == .removed {
        noteUnknown()
        return true
      }
      copyProblem =
        "The local copy of the state is damaged or an older one, and the store cannot be reached."
        + " Restore again when it can be; what is saved before that is a conflict. (\(error))"
    }
    return true
  }

  /// Replaces the local copy by the store's state if the copy is not to be trusted; false if it is,
  /// or there is none.
  func adoptForDoubted(_ state: RemoteState?) throws(ArchiveError) -> Bool {
    let finding = remote.finding
    guard finding.isDoubted else { return false }
    switch finding.course(with: try standing(of: state)) {
    case .load:
      if let state { try replaceDoubted(with: state) }
    case .goOn: remote.take(.trusted)
    case .conflict: if finding.note == .removed { noteUnknown() }
    }
    return true
  }

  private func noteUnknown() {
    copyProblem =
      "The state was discarded here, which the store has not heard of, and there is one all the"
      + " same. What is saved now may be a conflict."
  }

  /// Whether the store has a state that can take the place of the local copy.
  private func standing(of state: RemoteState?) throws(ArchiveError) -> LocalFinding.Store {
    guard let state else { return .empty }
    let content = RemoteContent(state.bytes)
    guard let bytes = content.state else { return content.isNewer ? .unreadable : .empty }
    guard !content.isNewer else { return .unreadable }
    return try remote.opener()?.archive(in: MemoryStorage(bytes)) == nil ? .unreadable : .holding
  }

  /// Takes the state of the store; the local copy becomes a moment before, unless the store has its bytes.
  private func replaceDoubted(with state: RemoteState) throws(ArchiveError) {
    let finding = remote.finding
    let stored = try remote.read(state)
    if let bytes = try remote.bytes(), !stored.archive.starts(with: bytes) {
      file.forgetStored()
      let location = try file.keepMoment(finding.file == .damaged ? .damaged : .unread)?.id
      copyProblem =
        "The local copy of the state was \(finding.file == .damaged ? "damaged" : "not the last one")"
        + ", so the state of the store has come in its place."
        + (location.map { " What was here is at \($0)." } ?? "")
    }
    try adopt(unconditionally: state)
    if !remote.isUnsent { remote.tell(.current) }
  }
}
