internal import ArchiveCodec

/// The questions of a ``StateEncoder`` to the walk that it belongs to.
protocol StateEncoding: AnyObject {
  /// The path of an element; empty for the application.
  func path(of slot: Int32) -> RestorationPath

  /// The record of a referenced object; nil, with a note, if it cannot be referred to.
  func reference(to object: any StateRestoring, from referrer: Int32, key: String) -> UInt64?

  func note(_ note: ReportNote, _ slot: Int32)
}
