package import ArchiveCodec

/// Opens the archives of one state, and gives the key that seals them.
package struct ArchiveOpener: Sendable {
  package let keys: any KeyProvider
  package let context: ArchiveContext
  let limits: ArchiveLimits

  /// Opens an archive; nil if the storage is empty.
  ///
  /// - Throws: As ``Archive/open(_:key:context:limits:recovery:)``.
  func open(
    _ storage: any ArchiveStorage, _ key: ArchiveKey, recovery: ArchiveRecovery = .strict
  ) throws(ArchiveError) -> Archive? {
    try Archive.open(
      storage, nil, with: .key(key), context: context, limits: limits, recovery: recovery)
  }

  /// - Throws: Why there is no key.
  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey {
    guard let key = try keys.key(creating: creating) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return key
  }
}

extension ArchiveError {
  /// Whether the same call may succeed later: nothing is known of what is stored.
  var mayPass: Bool {
    !isAboutContent && ![.keyMissing, .keyLocked, .locked].contains(code)
  }

  /// Whether the bytes or their key are the cause, and not the way to the bytes.
  package var isAboutContent: Bool {
    switch code {
    case .notAnArchive, .unsupportedVersion, .unsupportedFeature, .damaged, .truncated, .wrongKey,
      .wrongContext, .malformed, .limitExceeded, .typeMismatch, .keyNotFound, .numberOutOfRange:
      true
    default: false
    }
  }

  /// An error of a value in an archive, as an error of the archive.
  static func content(_ error: any Error) -> ArchiveError {
    error as? ArchiveError ?? ArchiveError(.malformed, subject: error.reason)
  }
}
