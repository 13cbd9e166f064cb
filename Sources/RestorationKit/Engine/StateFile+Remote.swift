internal import ArchiveCodec

/// The calls to the store that several machines share; a state that is not shared counts as sent.
extension StateFile {
  /// Makes sure that the local state is the one of the store, or newer.
  ///
  /// - Throws: `storeUnavailable` if there is no local state to go on with.
  func fetch(_ need: StoreLink.Need = .toLook) async throws(ArchiveError) {
    try await files.link?.fetch(need)
  }

  /// Looks whether the store has a newer state than this machine, and says so.
  func check() async { await files.link?.check() }

  /// Lets other processes have the state before its lease ends, as soon as the store has it.
  func release() async { await files.link?.release() }

  /// Whether the state on this machine outlasts the process.
  var isCopyLasting: Bool { files.link?.remote.isLasting ?? true }

  /// Why the store still has archives that were set aside and then removed; nil if it does not.
  var removalFailure: RemoteStoreError? { files.link?.removalFailure }

  // MARK: Sending

  /// Sends all changes that the store does not have, and waits for the answer.
  @discardableResult
  func send() async -> RemoteOutcome { await files.link?.send() ?? .sent }

  /// Sends changes that could not be sent before; whether another try is needed.
  func sendAgain() async -> Bool { await files.link?.sendAgain() ?? false }

  /// Sends, and with a copy that lasts waits for the answer for a short time only.
  func sendSoon() async -> RemoteOutcome { await files.link?.sendSoon() ?? .sent }

  /// Sends a save; if it has set an archive aside, removes those that were set aside too long ago.
  func sendSaved(_ settingAside: SettingAside?) async -> StoreLink.Sent {
    await files.link?.sendSaved(settingAside)
      ?? StoreLink.Sent(outcome: .sent, isCopyLasting: true, refusal: nil)
  }

  /// Waits until the store has forgotten the subkeys that were forgotten here.
  func sendForgotten() async -> RemoteOutcome { await files.link?.sendForgotten() ?? .sent }

  // MARK: Conflicts

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { files.link?.isInConflict ?? false }

  /// The host values of a scene that another machine has stored, if they conflict with the local
  /// ones; nil also if they cannot be read.
  func theirHostPart() -> HostPart? { files.link?.theirHostPart() }

  /// Ends a conflict; false if there is none.
  func resolve(
    _ choice: ConflictChoice, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool {
    guard let link = files.link, link.isInConflict else { return false }
    await link.sent()
    try await take()
    return try await link.resolve(choice, settingAside)
  }

  // MARK: Archives that are only in the store

  /// Finds the archives in the store that were set aside, also by other machines.
  ///
  /// - Throws: `storeUnavailable`.
  func fetchAsides(removesPlaces: Bool = false) async throws(ArchiveError) {
    try await files.link?.fetchAsides(removesPlaces: removesPlaces)
  }

  /// Calls the body with an archive that was set aside, which is loaded for the call if it is
  /// only in the store.
  ///
  /// - Returns: Nil if the archive is gone.
  func with<Value>(
    _ archive: SetAsideArchive, _ body: () throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value? {
    guard let link = files.link else { return try body() }
    return try await link.with(archive, body)
  }

  /// Removes a place to which no scene has come for long.
  func removeOldPlace() async { await files.link?.removeOldPlace() }

  /// The names in the store that can be names of files here; none if nothing is shared.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String] {
    try await files.link?.storedNames(prefix: prefix) ?? []
  }
}
