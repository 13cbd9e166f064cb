internal import ArchiveCodec

/// The calls to the other place of a state; a state that has none counts as sent.
extension StateFile {
  /// Makes sure that the local state is the one of the other place, or newer.
  ///
  /// - Throws: `storeUnavailable` if there is no local state to go on with.
  func fetch(_ need: LinkNeed = .toLook) async throws(ArchiveError) {
    try await files.link?.fetch(need, isolation: self)
  }

  /// Looks whether the other place has a newer state than this machine, and says so.
  package func check() async { await files.link?.check() }

  /// Lets others have the state, as soon as the other place has it.
  func release() async { await files.link?.release() }

  /// Whether the state on this machine outlasts the process.
  var isCopyLasting: Bool { files.link?.isCopyLasting ?? true }

  /// Why archives that were removed here are still elsewhere; nil if they are not.
  var removalFailure: ArchiveError? { files.link?.removalFailure }

  // MARK: Sending

  /// Sends all changes that the other place does not have, and waits for the answer.
  @discardableResult
  func send() async -> LinkOutcome { await files.link?.sendChanges(isolation: self) ?? .sent }

  /// Sends changes that could not be sent before; whether another try is needed.
  package func sendAgain() async -> Bool { await files.link?.sendAgain() ?? false }

  /// Sends, and with a copy that lasts waits for the answer for a short time only.
  func sendSoon() async -> LinkOutcome { await files.link?.sendSoon(isolation: self) ?? .sent }

  /// Sends a save; if it has set an archive aside, removes those that were set aside too long ago.
  func sendSaved(_ settingAside: SettingAside?) async -> LinkedSave {
    await files.link?.sendSaved(settingAside, isolation: self)
      ?? LinkedSave(outcome: .sent, isCopyLasting: true)
  }

  // MARK: Conflicts

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { files.link?.isInConflict ?? false }

  /// Whether the state that is in conflict with the local one was removed.
  var isRemovedElsewhere: Bool { files.link?.isRemovedElsewhere ?? false }

  /// The host values of a scene that are stored elsewhere, if they conflict with the local ones; nil
  /// also if they cannot be read.
  func theirHostPart() -> HostPart? { files.link?.theirHostPart() }

  /// Ends a conflict; false if there is none.
  func resolve(
    keepingTheirs: Bool, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    guard let link = files.link, link.isInConflict else { return false }
    await link.sent()
    try await take()
    return try await link.resolve(keepingTheirs: keepingTheirs, settingAside)
  }

  // MARK: Archives that are only elsewhere

  /// Finds the archives that were set aside elsewhere, also by other machines.
  ///
  /// - Throws: `storeUnavailable`.
  func fetchAsides(removesPlaces: Bool = false) async throws(ArchiveError) {
    try await files.link?.fetchAsides(removesPlaces: removesPlaces)
  }

  /// Calls the body with an archive that was set aside, which is loaded for the call if it is
  /// only elsewhere.
  ///
  /// - Returns: Nil if the archive is gone.
  func with<Value>(
    _ archive: SetAsideArchive, _ body: () throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value? {
    guard let link = files.link else { return try body() }
    guard try await link.hold(archive) else { return nil }
    defer { link.letGo(archive) }
    return try body()
  }

  /// Removes a place to which no scene has come for long.
  func removeOldPlace() async { await files.link?.removeOldPlace() }

  /// Removes states of other instances from the other place, unless an instance has one of them.
  func removeNumberedStatesElsewhere() async throws(ArchiveError) {
    guard source.suffix.isEmpty else { return }
    try await files.link?.removeNumberedStates(of: claim)
  }

  /// The names elsewhere that can be names of files here; none if nothing is elsewhere.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String] {
    try await files.link?.storedNames(prefix: prefix) ?? []
  }
}
