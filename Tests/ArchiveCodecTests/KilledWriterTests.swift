#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationTesting
import TestSupport
import XCTest

/// A real process that appends to a real file until it is killed.
///
/// Set `KILLED_WRITER_KILLS` for another number of kills than 50.
final class KilledWriterTests: XCTestCase {
  private static let variable = "KILLED_WRITER_FILE"
  private static let context = ArchiveContext(["org.example.test", "killed"])
  private static let recordCount: UInt64 = 20

  private func archive(_ storage: FileStorage) throws -> Archive? {
    try Archive.open(
      storage, key: try .repeating(7), context: Self.context, recovery: .recover)
  }

  /// The number of the last change, after a check that all records fit to it:
  /// change number *n* wrote *n* to record *n* modulo the count.
  private func lastChange(_ archive: Archive) throws -> UInt64 {
    let numbers = try archive.readAll().map { record in
      let number = try record.content.get().decode(UInt64.self, forKey: "number")
      XCTAssertEqual(record.identifier, number % Self.recordCount + 1)
      return number
    }.sorted()
    let last = numbers.last ?? 0
    let first = last < Self.recordCount ? 1 : last - Self.recordCount + 1
    XCTAssertEqual(numbers, last == 0 ? [] : Array(first...last))
    return last
  }

  /// The other process: says each number once that it is written.
  func testTheWriterThatIsKilled() throws {
    guard let path = ProcessInfo.processInfo.environment[Self.variable] else {
      throw XCTSkip("Runs in a process of its own.")
    }
    let storage = FileStorage(path: path)
    let writer = try ArchiveWriter.open(
      storage, key: try .repeating(7), context: Self.context)
    var number = try writer.archive.map(lastChange) ?? 0
    while true {
      number += 1
      let builder = writer.builder()
      try builder.append(record: number % Self.recordCount + 1) { encoder in
        encoder.encode(number, forKey: "number")
        encoder.encode(Data(count: Int(number % 7) * 1000), forKey: "filler")
      }
      try writer.append(try builder.finish())
      AppUnderTest.say("written \(number)")
    }
  }

  func testWhatAKilledProcessAcknowledgedIsThereAndNothingHalf() throws {
    let directory = try TemporaryDirectory()
    let path = directory.child("archive")
    var generator = SeededGenerator()
    let kills = LongTests.given("KILLED_WRITER_KILLS") ?? 50
    var last: UInt64 = 0
    for kill in 0..<kills {
      let acknowledged = try runAndKill(path, after: Int.random(in: 0...30, using: &generator))
      let what = "kill \(kill), seed \(generator.seed)"
      guard let archive = try archive(FileStorage(path: path)) else {
        XCTAssertNil(acknowledged, what)
        continue
      }
      try archive.verifyAll()
      let there = try lastChange(archive)
      // A change that was written may not have been acknowledged any more.
      XCTAssertTrue((acknowledged ?? last)...(acknowledged ?? last) + 1 ~= there, what)
      last = there
    }
    XCTAssertGreaterThan(last, 0)
  }

  /// The last number that the process acknowledged; nil if it had no time to.
  private func runAndKill(_ path: String, after count: Int) throws -> UInt64? {
    let process = try AppProcess.again(
      ["ArchiveCodecTests.KilledWriterTests/testTheWriterThatIsKilled"],
      environment: [Self.variable: path])
    var lines: [String] = []
    while lines.count < count, let line = try process.answer() { lines.append(line) }
    XCTAssertEqual(process.kill(), .killed(signal: SIGKILL))
    lines += try process.remainingAnswers()
    XCTAssertTrue(lines.allSatisfy { $0.hasPrefix("written ") }, "\(lines)")
    return lines.last.flatMap { UInt64($0.dropFirst("written ".count)) }
  }
}
#endif
