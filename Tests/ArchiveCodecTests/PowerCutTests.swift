import ArchiveCodec
import TestSupport
import XCTest

/// A disk that stops at every call, and keeps any part of what was not synced.
final class PowerCutTests: XCTestCase {
  private let archives = Result { try TestArchives() }

  private func value(_ bytes: [UInt8]) throws -> Int {
    let archives = try archives.get()
    let archive = try Archive.open(
      MemoryStorage(bytes), key: archives.key, context: archives.context, recovery: .recover)
    try archive?.verifyAll()
    return try archive?.record(1)?.decode(Int.self, forKey: "value") ?? 0
  }

  /// Writes 1, 2, 3… until a call fails; returns the last that was acknowledged.
  private func run(_ storage: FaultyStorage, durability: ArchiveWriter.Durability) throws -> Int {
    let archives = try archives.get()
    var acknowledged = 0
    do {
      let writer = try ArchiveWriter.open(
        storage, key: archives.key, context: archives.context)
      for value in 1...12 {
        let builder = writer.builder()
        try builder.append(record: 1) { encoder in
          encoder.encode(value, forKey: "value")
          // Large enough that the file is rewritten on the way.
          encoder.encode([UInt8](repeating: 7, count: 9000), forKey: "padding")
        }
        try writer.append(builder.finish(), durability: durability)
        acknowledged = value
      }
    } catch let error as ArchiveError
      where [.inputOutput, .poisoned, .notDurable].contains(error.code)
    {
    }
    return acknowledged
  }

  private func stopping(at call: Int) -> FaultyStorage {
    FaultyStorage { _, number in number >= call ? ArchiveError(.inputOutput) : nil }
  }

  func testWhatWasAcknowledgedIsThereAfterACutAtEveryCall() throws {
    let callCount = 40
    for call in 1...callCount {
      let storage = stopping(at: call)
      let acknowledged = try run(storage, durability: .durable)
      guard let durable = storage.durableBytes else {
        XCTAssertEqual(acknowledged, 0)
        continue
      }
      let left = try value(durable)
      XCTAssertTrue((acknowledged...acknowledged + 1).contains(left), "call \(call): \(left)")
    }
    let whole = FaultyStorage()
    XCTAssertEqual(try run(whole, durability: .durable), 12)
    XCTAssertLessThan(whole.callCount, callCount)
  }

  func testAnyPartOfWhatWasNotSyncedLeavesAStateThatWasWritten() throws {
    var generator = SeededGenerator()
    for call in stride(from: 2, through: 16, by: 1) {
      let storage = stopping(at: call)
      let acknowledged = try run(storage, durability: .lazy(maximumDelay: .seconds(3600)))
      guard let durable = storage.durableBytes, let bytes = storage.bytes else { continue }
      let synced = zip(durable, bytes).prefix { $0 == $1 }.count
      let least = try value(durable)
      guard bytes.starts(with: durable) else {
        // A new file that was synced, but whose name is not there for good: the
        // cut leaves the old one or the new one.
        XCTAssertTrue((least...acknowledged + 1).contains(try value(bytes)))
        continue
      }
      for _ in 0..<60 {
        var left = bytes
        // Each sector that was not synced is there, zero, or stale.
        for sector in stride(from: synced, to: bytes.count, by: 512) {
          let end = min(sector + 512, bytes.count)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: left.replaceSubrange(sector..<end, with: repeatElement(0, count: end - sector))
          case 1:
            left.replaceSubrange(
              sector..<end,
              with: (sector..<end).map { _ in UInt8.random(in: 0...255, using: &generator) })
          default: break
          }
        }
        let length = Int.random(in: synced...bytes.count, using: &generator)
        let value = try value(Array(left[..<length]))
        XCTAssertTrue(
          (least...max(acknowledged, least)).contains(value),
          "seed \(generator.seed) call \(call): \(value)")
      }
    }
  }
}
