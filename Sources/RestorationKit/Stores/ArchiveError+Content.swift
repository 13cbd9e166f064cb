package import ArchiveCodec

extension ArchiveError {
  /// Whether the same call may succeed later: nothing is known of what is stored.
  var mayPass: Bool {
    !isAboutContent && ![.keyMissing, .keyLocked, .locked].contains(code)
  }

  /// Whether the bytes or their key are the cause, and not the way to the bytes.
  package var isAboutContent: Bool {
    [
      .notAnArchive, .unsupportedVersion, .unsupportedFeature, .damaged, .truncated, .wrongKey,
      .wrongContext, .malformed, .limitExceeded, .typeMismatch, .keyNotFound, .numberOutOfRange,
    ].contains(code)
  }

  /// Why a state that cannot be read stays as a moment before the first write.
  package var keeps: Moment.Reason {
    let isOfOthers = [.unsupportedVersion, .unsupportedFeature, .wrongKey, .wrongContext]
      .contains(code)
    return isAboutContent && !isOfOthers ? .damaged : .unread
  }

  /// The error of a step before a change: `notDurable` would say that the change is there.
  var beforeAChange: ArchiveError {
    code == .notDurable ? ArchiveError(.inputOutput, systemError: systemError) : self
  }

  /// An error of a value in an archive, as an error of the archive.
  static func content(_ error: any Error) -> ArchiveError {
    error as? ArchiveError ?? ArchiveError(.malformed, subject: error.reason)
  }
}
