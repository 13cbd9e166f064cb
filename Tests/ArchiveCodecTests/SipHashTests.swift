import ArchiveCodec
import XCTest

/// The expected hashes are those of other implementations.
final class SipHashTests: XCTestCase {
  private func hash(_ count: UInt8, _ key: (UInt64, UInt64)) -> UInt64 {
    SipHash(key: key).hash(Array(0..<count).span)
  }

  func testHashesAreThoseOfPythonWithTheKeyZero() {
    // PYTHONHASHSEED=0 python3 -c 'print(hex(hash(bytes(range(7))) % 2**64))'
    let expected: [(count: UInt8, hash: UInt64)] = [
      (1, 0x68a9_1412_8e01_e473), (7, 0x2f09_8ab0_c751_325a), (8, 0xead4_11e6_7ebe_2eea),
      (9, 0x7592_7f9d_9512_4362), (15, 0xf30e_b725_bb91_c9ea), (16, 0x8972_1884_33a5_c5b7),
      (63, 0x385d_3e39_e5f3_7359), (64, 0x75e0_5fd5_bbc8_70c6), (65, 0x9551_550c_8259_74c6),
    ]
    for (count, expected) in expected {
      XCTAssertEqual(hash(count, (0, 0)), expected, "\(count) bytes")
    }
  }

  func testTheHashDependsOnBothHalvesOfTheKey() {
    XCTAssertEqual(hash(0, (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)), 0xabac_0158_050f_c4dc)
  }
}
