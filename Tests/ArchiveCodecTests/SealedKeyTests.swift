import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Keys that are sealed under other keys, and keys as operators store them.
final class SealedKeyTests: XCTestCase {
  private let context = ArchiveContext(["app", "user"])

  func testASealedKeyOpensWithItsMasterAlone() throws {
    let (key, master) = (try ArchiveKey(), try ArchiveKey())
    let stored = try SealedKey(key, under: master, context: context).bytes
    XCTAssertEqual(stored.count, 160)
    let sealed = try SealedKey(stored)
    XCTAssertEqual(try sealed.open(with: master, context: context)?.isSame(as: key), true)
    XCTAssertNil(try sealed.open(with: ArchiveKey(), context: context))
    XCTAssertNil(try sealed.open(with: key, context: context))
  }

  func testASealedKeyOpensWhereItBelongs() throws {
    let master = try ArchiveKey()
    let sealed = try SealedKey(ArchiveKey(), under: master, context: context)
    XCTAssertThrowsError(
      try sealed.open(with: master, context: ArchiveContext(["app", "another user"]))
    ) { XCTAssertEqual(($0 as? ArchiveError)?.code, .wrongContext) }
  }

  func testTheBytesAreThoseOfBefore() throws {
    // If they change, keys that are stored do not open any more.
    let sealed = try SealedKey(
      .counting(from: 0), under: .counting(from: 100), context: context, random: .fixed(seed: 1))
    let expected =
      "89524b530d0a1a0aca18c95ccf5fb977ab7042441dd60a5a01000000000000000000000063513c5c"
      + "8704eca27b730576e799523b0000000000000000d873cdeca37859a74b46a6b883a65e637ad2fd73"
      + "34b48f5b040d149b6b2d706ae6897ba4da13e0e8cbc62c916831ba937e060f7da42cbf12ff534948"
      + "a44952ba9cd5174d0b738f88c9c2c7b4fd297f0adb7c184b81b27dd300000000b28499a2b89214b7"
    XCTAssertEqual(sealed.bytes.hex, expected)
    let stored = try SealedKey(sealed.bytes)
    let key = try stored.open(with: .counting(from: 100), context: context)
    XCTAssertEqual(key?.isSame(as: try .counting(from: 0)), true)
  }

  func testAnyChangedBitIsDamage() throws {
    let stored = try SealedKey(ArchiveKey(), under: ArchiveKey(), context: context).bytes
    for place in 0..<stored.count * 8 {
      var bytes = stored
      bytes[place / 8] ^= 1 << (place % 8)
      assertDamaged(bytes, "bit \(place)")
    }
    for count in 0..<stored.count { assertDamaged(Array(stored.prefix(count)), "\(count) bytes") }
    assertDamaged(stored + [0], "a byte more")
  }

  private func assertDamaged(_ bytes: [UInt8], _ what: String) {
    XCTAssertThrowsError(try SealedKey(bytes), what) {
      XCTAssertEqual($0 as? ArchiveError, ArchiveError(.keyDamaged), what)
    }
  }

  func testHiddenNamesTellNamesApartAndNeedTheKey() throws {
    let key = try ArchiveKey.counting(from: 0)
    let names = ["", "a", "b", "é", "e\u{301}", String(repeating: "a", count: 10_000)]
    let hidden = names.map { key.hiddenName(of: $0) }
    XCTAssertEqual(Set(hidden).count, names.count)
    for name in hidden {
      XCTAssertEqual(name.count, 64)
      XCTAssertTrue(name.allSatisfy { "0123456789abcdef".contains($0) }, name)
    }
    XCTAssertEqual(hidden, names.map { key.hiddenName(of: $0) })
    XCTAssertNotEqual(hidden[1], try ArchiveKey().hiddenName(of: "a"))
    XCTAssertEqual(
      key.hiddenName(of: "a"), "a44056e53d2ac9e5f353cd8a9c566f95a7ad159187ad1646dba854c69019b019")
  }

  // MARK: Keys as text and in files

  private let bytes = (0..<32).map { UInt8($0 * 7 % 256 | 0x83) }

  private var spellings: [String] {
    let base64 = Data(bytes).base64EncodedString()
    let safe = base64.replacing("+", with: "-").replacing("/", with: "_")
    return [
      bytes.hex, bytes.hex.uppercased(), base64, safe, base64.replacing("=", with: ""),
      safe.replacing("=", with: ""), base64 + "\n", bytes.hex + "\r\n", " " + base64 + " ",
    ]
  }

  private func key(text: String) throws -> ArchiveKey {
    try Array(text.utf8).withUnsafeBytes { try ArchiveKey(text: $0) }
  }

  func testAKeyIsReadInEachSpelling() throws {
    var copy = bytes
    let expected = try copy.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
    for spelling in spellings {
      XCTAssertTrue(try key(text: spelling).isSame(as: expected), spelling)
    }
  }

  func testAnythingElseIsNoKey() {
    let base64 = Data(bytes).base64EncodedString()
    for text in [
      "", " ", "password", String(bytes.hex.dropLast()), String(bytes.hex.dropLast(2)),
      bytes.hex + "00", bytes.hex + "0", "0x" + bytes.hex,
      Data(bytes.dropLast()).base64EncodedString(),
      Data(bytes + [1]).base64EncodedString(), base64 + "=", base64 + "A", "\"\(base64)\"",
    ] {
      XCTAssertThrowsError(try key(text: text), text) {
        XCTAssertEqual($0 as? ArchiveError, ArchiveError(.keyDamaged), text)
      }
    }
  }

  func testAFileHasAKeyInEachForm() throws {
    let directory = try TemporaryDirectory()
    var copy = bytes
    let expected = try copy.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
    for (number, content) in ([bytes] + spellings.map { Array($0.utf8) }).enumerated() {
      let path = directory.child("\(number)")
      try write(content, to: path)
      XCTAssertEqual(try ArchiveKey.read(fromFile: path)?.isSame(as: expected), true, "\(number)")
    }
    let file = KeyFile(path: directory.child("key"))
    let made = try file.loadOrCreate()
    XCTAssertEqual(try ArchiveKey.read(fromFile: file.path)?.isSame(as: made), true)
    XCTAssertNil(try ArchiveKey.read(fromFile: directory.child("none")))
  }

  func testAFileThatIsNoKeyOrThatAllMayReadIsRefused() throws {
    let directory = try TemporaryDirectory()
    let path = directory.child("key")
    for content in [
      [], [1], Array(bytes.dropLast()), bytes + [1], .init(repeating: 65, count: 5000),
    ] {
      try write(content, to: path)
      assertThrows(.keyDamaged, path)
    }
    try write(bytes, to: path, mode: 0o604)
    assertThrows(.keyExposed, path)
  }

  private func assertThrows(_ code: ArchiveError.Code, _ path: String, line: UInt = #line) {
    XCTAssertThrowsError(try ArchiveKey.read(fromFile: path), line: line) {
      XCTAssertEqual(($0 as? ArchiveError)?.code, code, line: line)
      XCTAssertEqual("\($0)".contains(path), true, line: line)
    }
  }

  private func write(_ bytes: [UInt8], to path: String, mode: Int = 0o400) throws {
    if FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
    XCTAssertTrue(
      FileManager.default.createFile(
        atPath: path, contents: Data(bytes), attributes: [.posixPermissions: mode]))
  }
}

extension [UInt8] {
  fileprivate var hex: String { VectorFile.hexadecimal(self) }
}

extension ArchiveKey {
  /// A key that everybody knows.
  fileprivate static func counting(from first: UInt8) throws -> ArchiveKey {
    var bytes = (0..<32).map { first + $0 }
    return try bytes.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
  }
}
