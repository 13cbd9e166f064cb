package import ArchiveCodec

extension ArchiveLimits {
  /// Limits that fill a symbol table and a journal sooner.
  package init(
    recordByteCount: Int = 1 << 24 - 1, stringByteCount: Int = 1 << 24 - 1, depth: Int = 128,
    symbolCount: Int, commitCount: Int = 1 << 16
  ) {
    self.init(recordByteCount: recordByteCount, stringByteCount: stringByteCount, depth: depth)
    (self.symbolCount, self.commitCount) = (symbolCount, commitCount)
  }
}
