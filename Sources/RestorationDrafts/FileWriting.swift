internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Writes files of users.
enum FileWriting {
  /// Puts a new file in the place of one, or makes it.
  ///
  /// Foundation would give the new file the permissions of any new one, and so show a private file to all.
  static func replace(_ url: URL, with bytes: Data) throws {
    // In place of the file, and not of a link to it.
    let place = url.resolvingSymlinksInPath()
    let path = place.path(percentEncoded: false)
    guard let mode = try Directory.status(of: path)?.st_mode else {
      return try bytes.write(to: place, options: .atomic)
    }
    let content = [UInt8](bytes)
    try Directory(parentOf: path).place(
      Directory.name(of: path),
      { (file) throws(ArchiveError) in
        try unsafe content.withUnsafeBufferPointer { (content) throws(ArchiveError) in
          try unsafe file.write(UnsafeRawBufferPointer(content))
        }
        try SystemCall.check { fchmod(file.descriptor, mode & 0o7777) }
      }, publish: { temporary, final in unsafe rename(temporary, final) })
  }
}
