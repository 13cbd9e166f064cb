/// How an archive relates to a version of it that was seen before.
public enum ArchiveVerdict: Hashable, Sendable {
  /// It is that version, or comes after it.
  case ok

  /// It is older: somebody put back an earlier file.
  case rollback

  /// It went another way: a copy was changed elsewhere and put here.
  case fork
}
