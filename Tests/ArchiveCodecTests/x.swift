import ArchiveCodec
import Foundation
import XCTest

final class SmokeTests: XCTestCase {
  func testRoundTrip() throws {
    let builder = RecordBuilder()
    for id in 1...3000 as ClosedRange<UInt64> {
      try builder.append(record: id) { e in
        e.encode("title \(id)", forKey: "title")
        e.encode(Int(id) * 7 - 900, forKey: "n")
        e.encode([1, -500, 70000], forKey: "ints")
        try e.encodeContainer(forKey: "c") { $0.encode(true, forKey: "b"); $0.encode(2.5, forKey: "a") }
        e.encode(["z": 1, "y": 2], forKey: "d")
        e.encode(1, forKey: "n")
      }
    }
    let storage = MemoryStorage()
    let key = try ArchiveKey()
    let ctx = ArchiveContext(["a", "b"])
    let s = try Archive.write(try builder.finish(), to: storage, key: key, context: ctx)
    print(s.byteCount)
    let a = try XCTUnwrap(try Archive.open(storage, key: key, context: ctx))
    try a.verifyAll()
    let r = try XCTUnwrap(try a.record(2999))
    XCTAssertEqual(try r.decode(String.self, forKey: "title"), "title 2999")
    XCTAssertEqual(try r.decode([Int].self, forKey: "ints"), [1, -500, 70000])
    XCTAssertEqual(try r.decode([String: Int].self, forKey: "d"), ["z": 1, "y": 2])
    XCTAssertEqual(try r.container(forKey: "c")?.decode(Double.self, forKey: "a"), 2.5)
    XCTAssertEqual(try r.decode(Int.self, forKey: "n"), 1)
    let dir = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let f = FileStorage(path: dir.path + "/x/y.rka")
    _ = try Archive.write(try builder.finish(), to: f, key: key, context: ctx)
    try XCTUnwrap(try Archive.open(f, key: key, context: ctx)).verifyAll()
    let k = KeyFile(path: dir.path + "/k/key")
    _ = try k.loadOrCreate(); _ = try k.loadOrCreate()
  }
}
