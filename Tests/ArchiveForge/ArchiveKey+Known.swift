package import ArchiveCodec

extension ArchiveKey {
  /// A key whose bytes the test keeps, because the key gives none out.
  package static func known(_ bytes: [UInt8]) throws -> ArchiveKey {
    var bytes = bytes
    return try bytes.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
  }
}
