import Foundation
import RestorationDrafts
import XCTest

final class ContentStampTests: XCTestCase {
  /// `printf abc | b2sum -l 256`, and of nothing.
  func testTheHashIsBLAKE2bOf32Bytes() throws {
    let hashes = [
      "abc": "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319",
      "": "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
    ]
    for (text, hash) in hashes {
      let stamp = try ContentStamp(hashing: Data(text.utf8))
      let stored = try JSONSerialization.jsonObject(with: JSONEncoder().encode(stamp))
      let values = try XCTUnwrap(stored as? [String: Any])
      let bytes = try XCTUnwrap(Data(base64Encoded: try XCTUnwrap(values["hash"] as? String)))
      XCTAssertEqual(bytes.map { String(format: "%02x", $0) }.joined(), hash)
      XCTAssertEqual(values["byteCount"] as? Int, text.utf8.count)
    }
  }

  func testStampsAreTheSameIfTheirContentIs() throws {
    let (one, two) = (ContentStamp(version: "1"), ContentStamp(version: "2"))
    let (abc, abd) = (
      try ContentStamp(hashing: Array("abc".utf8)), try ContentStamp(hashing: Data("abd".utf8))
    )
    let all = [one, two, abc, abd]
    let expected: [[Bool?]] = [
      [true, false, nil, nil], [false, true, nil, nil],
      [nil, nil, true, false], [nil, nil, false, true],
    ]
    XCTAssertEqual(all.map { left in all.map { left.isSame(as: $0) } }, expected)
    XCTAssertEqual(abc, try ContentStamp(hashing: Data("abc".utf8)))
  }

  func testAStampComesBackAsItWas() throws {
    for stamp in [
      ContentStamp(version: ""), ContentStamp(version: "ü\u{0}"),
      try ContentStamp(hashing: Data(repeating: 7, count: 1 << 20)),
    ] {
      XCTAssertEqual(
        try JSONDecoder().decode(ContentStamp.self, from: JSONEncoder().encode(stamp)), stamp)
    }
  }

  func testAStampOfALaterVersionIsTheSameAsNoOther() throws {
    let hash = Data(repeating: 1, count: 31).base64EncodedString()
    let whole = Data(repeating: 1, count: 32).base64EncodedString()
    for text in [
      "{}", #"{"tree":"x"}"#, #"{"hash":"\#(hash)","byteCount":1}"#, #"{"hash":"\#(whole)"}"#,
      #"{"hash":"\#(whole)","byteCount":-1}"#,
    ] {
      let stamp = try JSONDecoder().decode(ContentStamp.self, from: Data(text.utf8))
      XCTAssertNil(stamp.isSame(as: stamp), text)
      XCTAssertNil(stamp.isSame(as: ContentStamp(version: "1")), text)
      XCTAssertNil(ContentStamp(version: "1").isSame(as: stamp), text)
      let again = try JSONDecoder().decode(ContentStamp.self, from: JSONEncoder().encode(stamp))
      XCTAssertEqual(again, stamp)
    }
  }
}
