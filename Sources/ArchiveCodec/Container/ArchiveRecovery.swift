/// What to do with the end of a journal that is torn or damaged.
///
/// A power cut or a kill while a change is appended leaves such an end. What
/// was acknowledged before is intact then.
public enum ArchiveRecovery: Hashable, Sendable {
  /// Opening throws.
  case strict

  /// The changes up to the damage are used; ``Archive/dropped`` tells of the rest.
  ///
  /// Damage of the snapshot itself is always an error.
  case recover
}
