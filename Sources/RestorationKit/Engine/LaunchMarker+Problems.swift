internal import ArchiveCodec

/// The problems of the last save, noted behind the marker for tools that look at a state without its app.
///
/// They are sealed as the marker is, and in the file of the lock alone: another storage notes none.
extension LaunchMarker {
  private static let problems = "problems"

  private var problemsContext: ArchiveContext { ArchiveContext(context.fields + [Self.problems]) }

  /// The noted problems, one in a line; none if nothing is noted, or if the note cannot be read.
  func problems(_ key: ArchiveKey) -> [String] {
    guard isLasting, let file = storage as? LaunchFile else { return [] }
    do throws(ArchiveError) {
      let bytes = try file.appendix()
      guard SealedRecord.isBeginning(bytes) else { return [] }
      let record = try SealedRecord.open(bytes, key: key, context: problemsContext).values
      let text: String = try record.decode(forKey: Self.problems)
      return text.split(separator: "\n").map { String($0) }
    } catch {
      return []
    }
  }

  /// Notes problems; none remove the note.
  ///
  /// - Throws: What the storage and the key throw.
  func note(
    problems: [String], _ key: () throws(ArchiveError) -> ArchiveKey
  ) throws {
    guard isLasting, let file = storage as? LaunchFile else { return }
    guard !problems.isEmpty else {
      _ = try file.replaceAppendix([])
      return
    }
    _ = try file.replaceAppendix(
      try SealedRecord.seal(key: try key(), context: problemsContext) {
        $0.encode(problems.joined(separator: "\n"), forKey: Self.problems)
      })
  }
}
