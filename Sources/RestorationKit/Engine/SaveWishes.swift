/// The wishes of the app, and of calls under way, for the saves to come.
struct SaveWishes {
  /// Whether the next launch shows no snapshot; every save starts without the wish.
  var ignoresSnapshot = false
  /// How many calls save and then let the objects go; until then they ask the objects
  /// whether they have changed.
  var leavingCount = 0
}
