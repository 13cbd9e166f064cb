package import ArchiveCodec

extension ArchiveError {
  /// Whether the bytes or their key are the cause, and not the way to the bytes.
  package var isAboutContent: Bool {
    switch code {
    case .notAnArchive, .unsupportedVersion, .unsupportedFeature, .damaged, .truncated, .wrongKey,
      .wrongContext, .malformed, .limitExceeded, .typeMismatch, .keyNotFound, .numberOutOfRange:
      true
    default: false
    }
  }

  /// Whether the same call may succeed later without another key or other bytes.
  package var mayPass: Bool { !isAboutContent && code != .keyMissing && code != .keyLocked }

  /// An error of a value in an archive, as an error of the archive.
  static func content(_ error: any Error) -> ArchiveError {
    error as? ArchiveError ?? ArchiveError(.malformed, subject: error.reason)
  }
}
