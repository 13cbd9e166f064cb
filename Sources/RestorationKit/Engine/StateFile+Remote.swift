internal import ArchiveCodec

/// What others ask of the store that several machines share; where nothing is shared, it has all.
extension StateFile {
  /// Makes sure that what is here is what the store has, or newer.
  ///
  /// - Throws: `storeUnavailable` if nothing is here to go on with.
  func fetch(_ need: StoreLink.Need = .toLook) async throws(ArchiveError) {
    try await files.link?.fetch(need)
  }

  /// Looks whether the store has something newer than what is here, and says so.
  func check() async { await files.link?.check() }

  /// Lets others have the state before its lease ends, as soon as the store has it.
  func release() async { await files.link?.release() }

  /// Whether what is here outlasts the process.
  var isCopyLasting: Bool { files.link?.remote.isLasting ?? true }

  /// Why the store still has what was removed of what was set aside; nil if it does not.
  var removalFailure: RemoteStoreError? { files.link?.removalFailure }

  // MARK: Sending

  /// Sends what the store does not have, and waits for the answer.
  @discardableResult
  func send() async -> RemoteOutcome { await files.link?.send() ?? .sent }

  /// Sends what could not be sent; whether it has to be tried once more.
  func sendAgain() async -> Bool { await files.link?.sendAgain() ?? false }

  /// Sends, and with a copy that lasts waits for the answer for a short time only.
  func sendSoon() async -> RemoteOutcome { await files.link?.sendSoon() ?? .sent }

  /// Sends a save, and removes what was set aside too long ago, if it has set something aside.
  func sendSaved(_ settingAside: SettingAside?) async -> StoreLink.Sent {
    await files.link?.sendSaved(settingAside)
      ?? StoreLink.Sent(outcome: .sent, isCopyLasting: true, refusal: nil)
  }

  /// Waits until the store has what was forgotten.
  func sendForgotten() async -> RemoteOutcome { await files.link?.sendForgotten() ?? .sent }

  // MARK: Conflicts

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { files.link?.isInConflict ?? false }

  /// What another machine has written in the name of a scene, if it is in conflict with what is
  /// here; nil also if that cannot be read.
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

  // MARK: What is only in the store

  /// Finds what the store has that was set aside, also by other machines.
  ///
  /// - Throws: `storeUnavailable`.
  func fetchAsides(removesPlaces: Bool = false) async throws(ArchiveError) {
    try await files.link?.fetchAsides(removesPlaces: removesPlaces)
  }

  /// Calls with what was set aside, which is loaded for that if it is only in the store.
  ///
  /// - Returns: Nil if it is gone.
  func with<Value>(
    _ archive: SetAsideArchive, _ body: () throws(ArchiveError) -> Value
  ) async throws(ArchiveError) -> Value? {
    guard let link = files.link else { return try body() }
    return try await link.with(archive, body)
  }

  /// Removes a place to which no scene has come for long.
  func removeOldPlace() async { await files.link?.removeOldPlace() }

  /// The names of what the store has, as far as they can be those of files here; none if
  /// nothing is shared.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String] {
    try await files.link?.storedNames(prefix: prefix) ?? []
  }
}
