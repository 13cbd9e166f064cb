extension Archive {
  /// The sizes of the parts of an archive, in bytes, records and changes.
  public struct Extent: Hashable, Sendable {
    /// The bytes that are part of the archive: header, snapshot and journal.
    public let byteCount: Int

    /// The bytes of the snapshot, which was written as a whole.
    public let snapshotByteCount: Int

    /// The records of the snapshot, including records that the journal has changed since.
    public let snapshotRecordCount: Int

    /// The changes that were appended to the snapshot.
    public let changeCount: Int

    /// The bytes of the changes.
    public let changeByteCount: Int
  }

  /// The sizes of the archive's parts; the property reads nothing from the storage.
  public var extent: Extent {
    Extent(
      byteCount: history.end, snapshotByteCount: history.snapshotRange.count,
      snapshotRecordCount: history.snapshot.footer.recordCount,
      changeCount: history.versions.count - 1,
      changeByteCount: history.end - history.snapshotRange.upperBound)
  }
}
