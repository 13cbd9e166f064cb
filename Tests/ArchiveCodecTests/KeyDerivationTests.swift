import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// BLAKE2b as another library computes it, Python's `hashlib`.
///
///     hashlib.blake2b(b"known answer", digest_size=32, key=bytes(range(32)),
///       salt=bytes(range(100, 116)), person=b"RKA1 checksum".ljust(16, b"\0"))
///
/// What the library derives is compared with that in ``ForgeTests``. Ciphers and
/// Argon2id are compared with PyNaCl in every golden archive that
/// `read-archive.py` opens.
final class KeyDerivationTests: XCTestCase {
  private let answers: [(String, String)] = [
    ("checksum", "557277fec0fa8f0d858749faf8b8b4bb51df8a90ac48fd1b06ec9bbfa0a7a672"),
    ("context", "55660fe6377add4a30914de3f0378583180fb95017e746d9f0ce85ed5dfe2c73"),
    ("slot", "1678597ca162ed47ae78dafc585eb78d338b67b5096686204a12554e1b5bc2b5"),
    ("key check", "1feb1ec008cb1a6c0224d4817f601b8971dcfc222ca894608f7d95d61e1fd3e4"),
    ("file keys", "5bcc76120692e0c0616852e7bff114be225eb5c380b18bd8852849861b80fbb4"),
    ("header MAC", "d409e7f58e3069c9d2cbf63fd15b2c416ee8dc84e493d7f91e75bd313d413d4f"),
    ("genesis", "a9912845a564e082a75df8eed66a77c79f6c147a5d3a8dc580d651f7805bac75"),
    ("chain keys", "d414553b801c8376059c4a91a6966d07c7577c4dd7f3910d4d988d6011c8f8ae"),
    ("salt", "02528ac0978af2910c90739445a2939793e358fe715ca97a2a149d027d53a397"),
    ("commit key", "24f3097430105040bff9feff05b79930e21c8b01d4111262c3725da04a1d545a"),
    ("chain MAC", "ce080a9b1f741561babc3ff21feb69736a7720b69b9f2ba8ffc07689e36b9b40"),
  ]

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  func testEveryUseHasTheLabelKeyAndSaltOfTheSpecification() {
    for (use, answer) in answers {
      XCTAssertEqual(
        hexadecimal(
          Derivation.derive(
            "RKA1 \(use)", key: [UInt8](0..<32), salt: [UInt8](100..<116),
            Array("known answer".utf8))),
        answer, use)
    }
  }

  func testAHashHasNoKeyAndAsManyBytesAsAsked() {
    XCTAssertEqual(
      hexadecimal(Derivation.derive("RKA1 checksum", Array("known answer".utf8), count: 64)),
      "6b8cb3b9f4bfd75d6af7e3a05694fb62194803523077a4d8d83733cbba58144f"
        + "2b47fc36c587493c24810a81216099ebefed7af708f4fc404c579e11cbda666a")
  }
}
