import ArchiveCodec
import XCTest

/// A vector before it is written.
struct NewVector {
  let name: String
  let comment: String
  let archive: [UInt8]
  var expect = "opens"
  var recover: String?
  var verify: String?
  var secret = VectorFile.Secret.key(VectorSealing.keyBytes)
  var context = VectorSealing.contextFields

  /// The file, with the content that the archive has now.
  func file() throws -> VectorFile {
    var file = VectorFile(
      comment: comment, secret: secret, context: context, expect: expect, recover: recover,
      verify: verify, archive: archive)
    if verify == nil, case .archive(let archive) = try file.open(.recover) {
      XCTAssertNil(VectorFile.verifyCode(archive), name)
      if VectorFile.verifyCode(archive) == nil {
        file.content = try VectorFile.content(of: archive)
      }
    }
    return file
  }
}
