import ArchiveCodec
import XCTest

/// Archives with a slot for a key and one for a passphrase.
enum PassphraseVectors {
  private static let passphrase = Array("correct horse battery staple".utf8)

  static func all() throws -> [NewVector] {
    let archive = try archive()
    let file = try rewritten(archive)
    func open(_ name: String, _ comment: String, _ archive: [UInt8]) -> NewVector {
      NewVector(name: name, comment: comment, archive: archive, secret: .passphrase(passphrase))
    }
    func refused(
      _ name: String, _ comment: String, _ expect: ArchiveError.Code, _ archive: [UInt8],
      secret: [UInt8] = passphrase, context: [String] = VectorSealing.contextFields
    ) -> NewVector {
      NewVector(
        name: "passphrase-\(name)", comment: comment, archive: archive, expect: "\(expect)",
        secret: .passphrase(secret), context: context)
    }
    return [
      open("golden-passphrase", "A slot for a key, then one for this passphrase.", archive),
      NewVector(
        name: "golden-passphrase-key", comment: "The same archive, opened by the key.",
        archive: archive),
      open("golden-passphrase-rewritten", "The file that follows it, with its slots.", file),
      refused("wrong", "Another passphrase.", .wrongPassphrase, archive, secret: [0x78]),
      refused(
        "context", "Another context.", .wrongContext, archive, context: ["org.example.vectors"]),
      refused("no-slot", "An archive for a key only.", .wrongKey, try VectorSealing.small()),
      refused("lanes", "Two lanes.", .unsupportedFeature, parameter(1, 2, of: archive)),
      refused(
        "zeros", "Byte 2 of its slot is not zero.", .unsupportedFeature,
        parameter(2, 1, of: archive)),
      refused("passes-0", "No passes.", .limitExceeded, parameter(4, 0, of: archive)),
      refused("passes-17", "17 passes.", .limitExceeded, parameter(4, 17, of: archive)),
      refused("memory-7", "7 KiB.", .limitExceeded, parameter(8, 7, of: archive)),
      refused(
        "memory-huge", "More than 2^31 KiB.", .limitExceeded, parameter(11, 0x80, of: archive)),
      refused(
        "passes-other", "A cost that was not paid.", .wrongPassphrase, parameter(4, 2, of: archive)),
      NewVector(
        name: "passphrase-memory-huge-key",
        comment: "Such a slot refuses the header also for a key.",
        archive: parameter(11, 0x80, of: archive), expect: "limitExceeded"),
    ]
  }

  private static func archive() throws -> [UInt8] {
    let storage = MemoryStorage()
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encode("behind a passphrase", forKey: "text") }
    guard case .passphrase(let passphrase) = try VectorFile.Secret.passphrase(passphrase).credential
    else { throw ArchiveError(.keyMissing) }
    _ = try Archive.write(
      builder.finish(), to: storage,
      slots: [
        .key(VectorSealing.key, reference: 7),
        .passphrase(passphrase, cost: PassphraseCost(passes: 1, kibibytes: 8)),
      ],
      context: VectorSealing.context, replacing: nil, schema: 0, random: .fixed(seed: 1),
      moment: VectorSealing.moment)
    return try XCTUnwrap(storage.bytes)
  }

  private static func rewritten(_ archive: [UInt8]) throws -> [UInt8] {
    let storage = MemoryStorage(archive)
    try VectorSealing.writer(storage, seed: 2).compact()
    return try XCTUnwrap(storage.bytes)
  }

  /// Changes a byte of the slot for the passphrase, which is the second.
  private static func parameter(_ offset: Int, _ value: UInt8, of archive: [UInt8]) -> [UInt8] {
    let place = 128 + 128 + offset
    return VectorHeader.replacing(
      place..<place + 1, of: archive, with: [value], slotCount: 2)
  }
}
