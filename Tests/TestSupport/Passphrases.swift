package import ArchiveCodec
import ArchiveForge

extension PassphraseCost {
  /// The least that is allowed, so that tests are fast.
  package static func least() throws -> PassphraseCost {
    try PassphraseCost(passes: 1, kibibytes: 8)
  }
}

extension NewSlot {
  /// A slot that a text opens, at the least cost.
  package static func cheap(_ text: String, reference: UInt64 = 0) throws -> NewSlot {
    .passphrase(try Passphrase(text), cost: try .least(), reference: reference)
  }
}

extension ArchiveKey {
  /// A key whose bytes are all the same.
  package static func repeating(_ byte: UInt8, count: Int = byteCount) throws -> ArchiveKey {
    try known([UInt8](repeating: byte, count: count))
  }
}
