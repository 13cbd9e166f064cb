package import ArchiveCodec

/// A directory whose states are also elsewhere, as in a store that several machines share.
///
/// The states on this machine are copies, which the library reads and writes as those of any
/// directory. What it asks and tells beside that is here and in ``StateLink``.
package protocol LinkedDirectory: Sendable {
  /// Whether nothing on this machine outlasts the process.
  var isInMemory: Bool { get }

  /// Whether the copies outlast the process.
  var isCopyLasting: Bool { get }

  /// The copy of a state; the same one as long as somebody has it.
  func linkedCopy(ofStateNamed name: String) -> any LinkedCopy

  /// Links a state with what looks after its files here.
  func link(stateNamed name: String, _ files: LinkedFiles) -> any StateLink
}

/// The copy of one state, as anybody may ask it on any thread.
package protocol LinkedCopy: AnyObject, Sendable {
  /// This version is here now.
  func noteHere(_ version: ArchiveVersion)

  /// An archive that was set aside has been removed here.
  func noteRemovedAsides()

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { get }
}

/// What looks after the files of a linked state.
package struct LinkedFiles {
  package let claimed: ClaimedName
  package let archive: StoredArchive
  package let launch: LaunchGuard
}

/// The link of one state to its other place, which has the state too.
///
/// A link belongs to the actor of the state's file. While it waits for an answer, other calls may
/// change the files.
package protocol StateLink: AnyObject {
  /// The file that has the link; the reference is weak.
  var file: StateFile? { get set }

  /// Whether the copy outlasts the process.
  var isCopyLasting: Bool { get }

  // MARK: Before a read and a write

  /// The state was claimed, so others must not have it.
  func noteClaimed()

  /// Makes sure that the state here is that of the other place, or newer.
  ///
  /// - Throws: `storeUnavailable` if there is none here to go on with, and `locked`.
  func fetch(_ need: LinkNeed, isolation: isolated (any Actor)?) async throws(ArchiveError)

  /// Finds out whether the other place has the state that is here, before that goes.
  func compareWithStore() async

  /// The fate of a copy that was not as it was left; returned once.
  func takeCopyProblem() -> String?

  // MARK: After a write, a discard and a close

  /// Sends all that the other place does not have, and waits for the answer.
  func sendChanges(isolation: isolated (any Actor)?) async -> LinkOutcome

  /// As ``sendChanges(isolation:)``, but with a copy that lasts waits for a short time only.
  func sendSoon(isolation: isolated (any Actor)?) async -> LinkOutcome

  /// Sends what could not be sent before; whether another try is needed.
  func sendAgain() async -> Bool

  /// Sends a save as ``sendSoon(isolation:)`` does; if it has set an archive aside, those go that
  /// were set aside too long ago.
  func sendSaved(
    _ settingAside: SettingAside?, isolation: isolated (any Actor)?
  ) async -> LinkedSave

  /// The state was discarded, and nothing of it is to be kept elsewhere.
  func noteDiscarded()

  /// Looks whether the other place has something newer, and says so to whoever listens.
  func check() async

  /// Lets others have the state, as soon as the other place has it.
  func release() async

  // MARK: Conflicts

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { get }

  /// Whether the state that is in conflict with the one here was removed.
  var isRemovedElsewhere: Bool { get }

  /// The host values of the state that is in conflict with the one here; nil also if they cannot be
  /// read.
  func theirHostPart() -> StateFile.HostPart?

  /// Waits until nothing is being sent.
  func sent() async

  /// Ends a conflict, and sets the state aside that does not stay; false if there is none.
  func resolve(
    keepingTheirs: Bool, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Bool

  // MARK: What is set aside elsewhere

  /// Finds what is set aside elsewhere.
  ///
  /// - Throws: `storeUnavailable`.
  func fetchAsides(removesPlaces: Bool) async throws(ArchiveError)

  /// Loads an archive that is set aside elsewhere only, until it is let go; false if it is gone.
  func hold(_ archive: SetAsideArchive) async throws(ArchiveError) -> Bool

  /// Frees the memory that ``hold(_:)`` has filled.
  func letGo(_ archive: SetAsideArchive)

  /// Why archives that were removed here are still elsewhere; nil if they are not.
  var removalFailure: ArchiveError? { get }

  // MARK: Names

  /// The names elsewhere that can be names of files here.
  func storedNames(prefix: String) async throws(ArchiveError) -> [String]

  /// Removes the numbered states of a name from the other place that no instance has.
  func removeNumberedStates(of claim: StateClaim) async throws(ArchiveError)

  /// Removes a place to which no state has come for long.
  func removeOldPlace() async
}

/// The purpose for which a state is fetched.
package enum LinkNeed: Sendable {
  /// To look only; no local file is replaced.
  case toLook
  /// To look as a launch does: a local copy that is not as it was left gives way
  /// to the store's state.
  case toList
  /// To restore; a state that was fetched before is too old.
  case toRestore
  /// To write; a copy that lasts goes on without the store.
  case toWrite
  /// To replace any state; a copy that has nothing does not know what the store has.
  case toReplace

  /// Whether others must not have the state meanwhile.
  package var isUse: Bool { self != .toLook && self != .toList }
}

/// What became of a state that was to be sent.
package enum LinkOutcome: Sendable {
  /// The other place has all that is here.
  case sent
  /// Something is only here, and is sent again later; why, is a `storeUnavailable`.
  case unsent(ArchiveError)
  /// The other place has something else, and nothing was changed there.
  case refused(Refusal)
}

/// What became of a save that was to be sent.
package struct LinkedSave: Sendable {
  package let outcome: LinkOutcome
  package let isCopyLasting: Bool
  /// Why an archive that was set aside was refused elsewhere; nil if none was.
  package let refusedAside: String?

  package init(outcome: LinkOutcome, isCopyLasting: Bool, refusedAside: String? = nil) {
    (self.outcome, self.isCopyLasting) = (outcome, isCopyLasting)
    self.refusedAside = refusedAside
  }
}
