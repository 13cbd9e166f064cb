public import RestorationFoundation

/// The rules by which a keeper saves, restores and keeps states.
///
/// All rules have a default that loses nothing. They hold for the state of the keeper and for that of
/// each scene of a host, each by itself.
///
///     keeper.policy.instances = .single
public struct StatePolicy: Sendable {
  // MARK: Bounds of a state

  /// For how long, and up to what size, saves keep nodes that a restore could not bring
  /// back; nil for ever.
  ///
  /// By default a year of 365 days, and 8 MiB.
  public var keptBound: KeptBound? = KeptBound()

  /// How many nodes, views and objects a save takes; 4,194,304 by default.
  ///
  /// A tree that makes a child whenever it is asked would never end. A save of more
  /// nodes than this throws `tooManyNodes` and stores nothing.
  public var nodeLimit = 1 << 22

  // MARK: Bounds of what stays beside it

  /// How many states that were set aside stay, and for how long.
  ///
  /// By default the oldest, the two newest, and all of the last 30 days.
  public var setAsideBound = SetAsideBound()

  /// How many older generations of the state are kept beside it.
  ///
  /// By default the generation that the last whole save replaced, and the last ones of
  /// three other versions of the app. Generations over the bound go with the next save that
  /// keeps one.
  public var generationBound = GenerationBound()

  /// How many sessions stay, to go back to the state or the windows of an earlier launch; nil, the
  /// default, for none.
  ///
  /// A launch that restores keeps what it has found, before it changes anything; see
  /// ``StateKeeper/savedSessions()``. A ``FileStateDirectory`` keeps sessions, as links that take no
  /// space until a save replaces the archive; other directories keep none. With nil, those
  /// that are there stay until they are removed, or the state is discarded or declined.
  public var sessions: SessionBound?

  // MARK: Launches

  /// The age in seconds over which a state is not restored; nil, the default, for any age.
  ///
  /// The age counts from the last save, by the clock of the keeper. That clock may be wrong in one
  /// launch, so the first launch that finds a state too old leaves it in its place, and reports
  /// ``RestorationReport/Outcome/tooOld(setAsideAt:)``. A save of that launch first sets the state
  /// aside, as one that nobody has read. A launch that finds the same state too old again, after a
  /// restart of the machine or a day of uptime later, sets it aside itself. A launch that restores
  /// the state forgets that it was found too old.
  ///
  /// A state that the app has put back is restored whatever its age.
  public var maximumAge: TimeInterval?

  /// How many restores in a row may crash before a part of the state is left out; less
  /// than 1 is as 1.
  ///
  /// By default two. The last of these restores notes which element it makes or decodes. The next launch leaves
  /// out the element that crashed, with all below it. If that launch crashes too, the next one
  /// leaves out the element above, and the one after that sets the whole state aside and restores
  /// the generation before it, if there is one. After a crash in no element the state is set aside
  /// at once. If the older generation crashes as often, the next launch restores nothing and
  /// reports ``RestorationReport/Outcome/crashed(setAsideAt:)``;
  /// ``StateKeeper/setAsideStates()`` lists both.
  ///
  /// After the restore, a crash in a late restore or in the decoding of a value counts against its element
  /// alone, and after so many in a row the element is left out.
  ///
  /// An element that was left out is kept, as a node that was not found. This version
  /// of the app leaves the element out as long as it is kept. The next save sets a copy
  /// of the whole state aside. A process that ends while it restores counts as crashed,
  /// unless it called `exit`, or the machine was restarted, or one of the signals that
  /// ``Restoration`` holds has ended it; see <doc:restoration-order>.
  public var crashThreshold = 2

  /// What happens when another instance of the app has the state already, in
  /// this process or in another one.
  ///
  /// Set this rule before the first restore or save: from then on a keeper has its
  /// state, until ``StateKeeper/close()``, its own end or that of the process. The scenes of a host
  /// are taken together.
  public var instances = InstancePolicy.numbered

  /// Creates the rules that hold if none is set.
  public init() {}
}
