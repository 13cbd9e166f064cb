/// The part of an autosave that its keeper or host has; the autosave ends with it.
///
/// This part belongs to the actor of the keeper. The ``Autosave`` of the app belongs to none.
final class HeldAutosave {
  let turns: AutosaveTurns
  /// Gives the roots of a keeper; nil for a host, and when the autosave has ended.
  var roots: (() -> [any RestorableNode])?

  init(_ turns: AutosaveTurns, roots: (() -> [any RestorableNode])? = nil) {
    self.turns = turns
    self.roots = roots
  }

  deinit { turns.stop() }
}
