import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// The errors of plain values name the keys that lead to them, outermost first.
final class EncodingPathTests: XCTestCase {
  private let builder = RecordBuilder(limits: ArchiveLimits(stringByteCount: 100, depth: 8))
  private let long = String(repeating: "x", count: 101)
  private let longKey = String(repeating: "k", count: 1025)

  private func assert(
    _ subject: String, _ path: [String], _ message: String = "", line: UInt = #line,
    _ body: (KeyedEncoder) throws -> Void
  ) {
    XCTAssertEqual(
      archiveError(message, line: line) { try builder.append(record: 1, body) },
      ArchiveError(.limitExceeded, path: path, subject: subject), message, line: line)
  }

  private func nested(_ depth: Int) -> [String] {
    Array(repeating: "inner", count: depth)
  }

  private func nest(_ encoder: KeyedEncoder, _ depth: Int, _ body: (KeyedEncoder) -> Void) {
    guard depth > 0 else { return body(encoder) }
    encoder.encodeContainer(forKey: "inner") { nest($0, depth - 1, body) }
  }

  func testEveryPlainValueThatIsTooLargeIsNamed() throws {
    let values: [(subject: String, encode: (KeyedEncoder) -> Void)] = [
      ("bytes of a string", { [long] in $0.encode(long, forKey: "a") }),
      ("bytes of a string", { $0.encode(Data(count: 101), forKey: "a") }),
      ("bytes of a string", { [long] in $0.encode(URL(string: "file:///\(long)"), forKey: "a") }),
      ("bytes of a string", { [long] in $0.encode(["", long, ""], forKey: "a") }),
      ("bytes of a string", { [long] in $0.encode([[[["", long], []]]], forKey: "a") }),
      ("bytes of a string", { [long] in $0.encode(["b": ["c": [long]]], forKey: "a") }),
      ("bytes of a key", { [longKey] in $0.encode([longKey: 1], forKey: "a") }),
      ("bytes of a key", { [longKey] in $0.encode([["b": [longKey: 1]]], forKey: "a") }),
      ("bytes of a name", { [longKey] in $0.encode(name: longKey, forKey: "a") }),
      ("depth", { $0.encode([[[[[[[[[1]]]]]]]]], forKey: "a") }),
    ]
    for (place, value) in values.enumerated() {
      assert(value.subject, ["a"], "\(place) alone") { value.encode($0) }
      assert(value.subject, ["a"], "\(place) among others") { encoder in
        encoder.encode([["b"], [], ["a"]], forKey: "b")
        encoder.encodeReferences(to: [1, 2, 3], forKey: "c")
        value.encode(encoder)
        for number in 0..<20 { encoder.encode("\(number)", forKey: "\(number)") }
        encoder.encode([["b"], [], ["a"]], forKey: "b")
      }
      assert(value.subject, ["outer", "inner", "a"], "\(place) in containers") { encoder in
        encoder.encode(["b"], forKey: "b")
        encoder.encodeContainer(forKey: "outer") { outer in
          outer.encode(["b"], forKey: "b")
          outer.encodeContainer(forKey: "empty") { _ in }
          outer.encodeContainer(forKey: "inner") { inner in
            inner.encode(["b"], forKey: "b")
            value.encode(inner)
            inner.encode(["b"], forKey: "c")
          }
          outer.encode(["b"], forKey: "c")
        }
        encoder.encode(["b"], forKey: "c")
      }
    }
  }

  func testAKeyThatIsTooLongIsNamedWhateverItsValueIs() throws {
    let values: [(KeyedEncoder, String) -> Void] = [
      { $0.encode(1, forKey: $1) },
      { $0.encode(name: "a", forKey: $1) },
      { $0.encodeReference(to: 1, forKey: $1) },
      { $0.encodeReferences(to: [1], forKey: $1) },
      { $0.encodeContainer(forKey: $1) { _ in } },
    ]
    for encode in values {
      assert("bytes of a key", [longKey]) { [longKey] in
        encode($0, longKey)
        $0.encode(1, forKey: "next")
      }
      assert("bytes of a key", ["a", longKey]) { [longKey] encoder in
        encoder.encode(1, forKey: "before")
        encoder.encodeContainer(forKey: "a") { inner in
          inner.encode(1, forKey: "before")
          encode(inner, longKey)
          inner.encode(1, forKey: "next")
        }
        encoder.encode(1, forKey: "next")
      }
    }
  }

  func testReferencesThatAreTooDeepAreNamed() {
    for depth in 0...10 {
      let fits = depth + 2 <= 8
      let encode = { (encoder: KeyedEncoder) in
        self.nest(encoder, depth) { inner in
          inner.encode("x", forKey: "a")
          inner.encodeReferences(to: [1, 2], forKey: "many")
          inner.encode("x", forKey: "b")
        }
      }
      if fits {
        XCTAssertNoThrow(try builder.append(record: 1, encode))
      } else {
        // The first container that is too deep, which may be one of the outer ones.
        assert("depth", depth < 8 ? nested(depth) + ["many"] : nested(8), "\(depth)", encode)
      }
    }
  }

  func testTheFirstFailureIsTheOneThatIsNamed() {
    assert("bytes of a string", ["outer", "a"]) { [long, longKey] encoder in
      encoder.encodeContainer(forKey: "outer") { outer in
        outer.encode(long, forKey: "a")
        outer.encode(long, forKey: "b")
      }
      encoder.encode(Data(count: 200), forKey: "c")
      encoder.encode(1, forKey: longKey)
    }
  }

  func testAFailureAmongKeysThatComeInAnotherOrderEveryTimeIsNamed() {
    var generator = SeededGenerator(seed: 7)
    let keys = (0..<40).map { "key \($0)" }
    for large in keys {
      let order = (keys + keys.prefix(10)).shuffled(using: &generator)
      assert("bytes of a string", ["a", large], large) { [long] encoder in
        encoder.encodeContainer(forKey: "a") { encoder in
          for key in order { encoder.encode(key == large ? long : "", forKey: key) }
        }
      }
    }
  }

  func testAFailureUnderAKeyWithoutASymbolIsNamed() {
    let builder = RecordBuilder(limits: ArchiveLimits(stringByteCount: 100, symbolCount: 2))
    let error = archiveError {
      try builder.append(record: 1) { [long] encoder in
        for key in ["a", "b", "c", "d"] {
          encoder.encodeContainer(forKey: key) {
            $0.encode(1, forKey: "a")
            $0.encode(key == "c" ? long : "", forKey: "é")
            $0.encode(2, forKey: "z")
          }
        }
      }
    }
    XCTAssertEqual(
      error, ArchiveError(.limitExceeded, path: ["c", "é"], subject: "bytes of a string"))
  }

  func testAnAttemptNamesTheKeysInsideOfItAndLeavesAnEarlierFailureItsOwn() {
    assert("bytes of a string", ["outer", "first"]) { [long] encoder in
      encoder.encodeContainer(forKey: "outer") { outer in
        outer.encode([long], forKey: "first")
        let error = archiveError {
          try outer.attempt {
            outer.encode(1, forKey: "before")
            outer.encodeContainer(forKey: "inner") { $0.encode(long, forKey: "second") }
          }
        }
        XCTAssertEqual(
          error,
          ArchiveError(.limitExceeded, path: ["inner", "second"], subject: "bytes of a string"))
        outer.encode(1, forKey: "after")
      }
    }
  }

  func testAFailureBesideCodableValuesKeepsItsKey() throws {
    struct Pair: Codable {
      var left: String
      var right = [1, 2]
    }
    assert("bytes of a string", ["outer", "first"]) { [long] encoder in
      try encoder.encodeContainer(forKey: "outer") { (outer) throws -> Void in
        try outer.encode(Pair(left: "fits"), forKey: "pair")
        outer.encode(long, forKey: "first")
        XCTAssertThrowsError(try outer.encode(Pair(left: long), forKey: "too large"))
        try outer.encode(Pair(left: "fits"), forKey: "other pair")
      }
    }
  }

  func testTheKeyOfACodableValueIsNamedIfItIsTooLong() {
    assert("bytes of a key", ["a", longKey]) { [longKey] encoder in
      try encoder.encodeContainer(forKey: "a") { (inner) throws -> Void in
        try inner.encode(Set([1]), forKey: longKey)
        inner.encode(1, forKey: "next")
      }
    }
  }

  func testAClosedEncoderNamesTheKeyAndNotTheContainersOfAnother() throws {
    var kept: KeyedEncoder?
    try builder.append(record: 1) { kept = $0 }
    XCTAssertEqual(
      archiveError {
        try builder.append(record: 2) { encoder in
          encoder.encodeContainer(forKey: "outer") { outer in
            outer.encode(1, forKey: "a")
            kept?.encode(1, forKey: "stray")
            outer.encode(1, forKey: "b")
          }
        }
      }, ArchiveError(.encoderClosed, path: ["stray"]))
  }
}
