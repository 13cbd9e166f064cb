internal import ArchiveCodec

/// A restore that has begun and not ended, with the marker that says so.
struct OpenRestore {
  let number: UInt64
  /// The key, since letting the state go must not wait for the provider.
  let key: ArchiveKey
  /// Nil if there is no marker that may be changed.
  let marked: LaunchMarker.Content?
  /// Where the restore is, for the launch after a crash.
  var note: LaunchNote?

  /// Takes the mark away; if there is no room for a new marker, its note says that the restore has
  /// ended, or the next launch would count a crash.
  ///
  /// - Parameters:
  ///   - marker: The marker.
  ///   - isNoted: Whether only the note of the marker says that the restore has ended, since the
  ///     note is needed for values that are decoded later.
  /// - Throws: The errors of the storage.
  func takeMark(from marker: LaunchMarker, isNoted: Bool) throws {
    guard var marked else { return }
    if isNoted, let note { return note.endRestore() }
    marked.endRestore()
    do {
      try marker.write(marked, key)
    } catch {
      note?.end()
      throw error
    }
  }
}
