import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Files that somebody without the key has changed, one fault each.
final class HostileContainerTests: XCTestCase {
  private let archives = Result { try TestArchives() }

  /// A commit of a file, found by the lengths that it says.
  private struct Commit {
    let range: Range<Int>
    /// The chunks with their lengths before them.
    let frames: [Range<Int>]

    var trailer: Int { range.upperBound - 64 }
  }

  private struct Sample {
    let bytes: [UInt8]
    let commits: [Commit]
    let states: [[UInt64: Int]]
  }

  /// A snapshot of three chunks and two changes, the first of two chunks.
  private func sample() throws -> Sample {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let writer = try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
    var states: [[UInt64: Int]] = []
    for byteCounts in [[1: 35_000, 2: 10], [2: 20_000], [3: 10]] as [[UInt64: Int]] {
      let builder = writer.builder()
      for (record, count) in byteCounts.sorted(by: { $0.key < $1.key }) {
        try builder.append(record: record) { encoder in
          encoder.encode([UInt8](repeating: 7, count: count), forKey: "bytes")
        }
      }
      try writer.append(builder.finish())
      states.append((states.last ?? [:]).merging(byteCounts) { $1 })
    }
    let bytes = try XCTUnwrap(storage.bytes)
    return Sample(bytes: bytes, commits: commits(bytes), states: states)
  }

  private func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
  }

  private func commits(_ bytes: [UInt8]) -> [Commit] {
    var commits: [Commit] = []
    var start = 288
    while start < bytes.count {
      var position = start + 32
      var frames: [Range<Int>] = []
      var isLast = false
      while !isLast {
        let length = word(bytes, at: position)
        isLast = length >> 31 == 1
        frames.append(position..<position + 4 + Int(length & 0x7FFF_FFFF))
        position = frames[frames.count - 1].upperBound
      }
      commits.append(Commit(range: start..<position + 64, frames: frames))
      start = position + 64
    }
    return commits
  }

  private func read(_ bytes: [UInt8], _ recovery: ArchiveRecovery) throws -> [UInt64: Int] {
    let archives = try archives.get()
    let archive = try Archive.open(
      MemoryStorage(bytes), key: archives.key, context: archives.context, recovery: recovery)
    return Dictionary(
      uniqueKeysWithValues: try archive?.readAll().map { record in
        (record.identifier, try record.content.get().decode([UInt8].self, forKey: "bytes").count)
      } ?? [])
  }

  /// Strict throws; recover gives the state before the commit with the fault.
  private func assertFault(
    in commit: Int, _ sample: Sample, _ changed: [UInt8], _ what: String,
    _ code: ArchiveError.Code = .damaged, line: UInt = #line
  ) {
    XCTAssertEqual(
      archiveError(what, line: line) { _ = try read(changed, .strict) }?.code, code, what,
      line: line)
    guard commit > 0 else {
      XCTAssertEqual(
        archiveError(what, line: line) { _ = try read(changed, .recover) }?.code, code, what,
        line: line)
      return
    }
    XCTAssertEqual(try read(changed, .recover), sample.states[commit - 1], what, line: line)
  }

  private func putting(_ bytes: [UInt8], _ new: [UInt8], at offset: Int) -> [UInt8] {
    var changed = bytes
    changed.replaceSubrange(offset..<offset + new.count, with: new)
    return changed
  }

  private func little(_ value: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  func testTheSampleIsReadWhole() throws {
    let sample = try sample()
    XCTAssertEqual(sample.commits.map(\.frames.count), [3, 2, 1])
    XCTAssertEqual(try read(sample.bytes, .strict), sample.states[2])
  }

  /// Every other value of one byte there is.
  func testEveryByteSetToZeroOrAllOnesIsRefused() throws {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let writer = try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
    var ends: [Int] = []
    for number in 1...3 as ClosedRange<UInt64> {
      let builder = writer.builder()
      try builder.append(record: number) { $0.encode([UInt8(number)], forKey: "bytes") }
      try writer.append(builder.finish())
      ends.append(try XCTUnwrap(storage.bytes).count)
    }
    let bytes = try XCTUnwrap(storage.bytes)
    for position in bytes.indices {
      for value in [0, 0xFF] as [UInt8] where bytes[position] != value {
        let changed = putting(bytes, [value], at: position)
        XCTAssertNotNil(archiveError("byte \(position)") { _ = try read(changed, .strict) })
        let intact = try XCTUnwrap(ends.firstIndex { position < $0 })
        if intact == 0 {
          XCTAssertNotNil(archiveError("byte \(position)") { _ = try read(changed, .recover) })
        } else {
          XCTAssertEqual(try read(changed, .recover).count, intact, "byte \(position)")
        }
      }
    }
  }

  /// A length that reaches past the end looks like a torn change.
  func testEveryWrongLengthOfAChunkIsRefused() throws {
    let sample = try sample()
    let full: UInt32 = 1 << 14 + 16
    for (number, commit) in sample.commits.enumerated() {
      for frame in commit.frames {
        let right = word(sample.bytes, at: frame.lowerBound)
        for length in [0, 15, 16, 17, full - 1, full, full + 1, 0x7FFF_FFFF] {
          for flag in [0, 1 << 31] as [UInt32] where length | flag != right {
            let changed = putting(
              sample.bytes, little(UInt64(length | flag), count: 4), at: frame.lowerBound)
            let error = archiveError { _ = try read(changed, .strict) }?.code
            let isPastTheEnd = changed.count - frame.lowerBound < Int(length) + 4 + 64
            XCTAssertTrue(
              error == .damaged || error == .truncated && (length == full || isPastTheEnd),
              "commit \(number) length \(length | flag): \(error as Any)")
            assertFault(
              in: number, sample, changed, "commit \(number) length \(length)", error ?? .damaged)
          }
        }
      }
    }
  }

  func testTheFinalBitOfEveryChunkIsChecked() throws {
    let sample = try sample()
    for (number, commit) in sample.commits.enumerated() {
      for (place, frame) in commit.frames.enumerated() {
        let changed = putting(
          sample.bytes, [sample.bytes[frame.lowerBound + 3] ^ 0x80], at: frame.lowerBound + 3)
        assertFault(in: number, sample, changed, "commit \(number) chunk \(place)")
      }
    }
  }

  func testAChangeWithoutItsLastChunkIsRefused() throws {
    let sample = try sample()
    let commit = sample.commits[1]
    let (first, last) = (commit.frames[0], commit.frames[1])
    var changed = sample.bytes
    changed[first.lowerBound + 3] |= 0x80
    changed.replaceSubrange(
      commit.trailer + 16..<commit.trailer + 24,
      with: little(UInt64(commit.range.count - last.count), count: 8))
    changed.removeSubrange(last)
    assertFault(in: 1, sample, changed, "the last chunk dropped")
  }

  func testEveryFieldOfATrailerIsChecked() throws {
    let sample = try sample()
    for (number, commit) in sample.commits.enumerated() {
      func field(_ offset: Int, _ count: Int, _ values: [UInt64], _ what: String) {
        for value in values {
          let changed = putting(
            sample.bytes, little(value, count: count), at: commit.trailer + offset)
          guard changed != sample.bytes else { continue }
          assertFault(in: number, sample, changed, "commit \(number) \(what) \(value)")
        }
      }
      let size = UInt64(commit.range.count)
      let all = UInt64(sample.bytes.count)
      field(4, 4, [0, 1, UInt64(word(sample.bytes, at: commit.trailer + 4)) + 1, size], "footer")
      field(4, 4, [0x7FFF_FFFF, 0xFFFF_FFFF], "footer")
      field(8, 8, [0, UInt64(number), UInt64(number) + 2, 1 << 63, .max], "generation")
      field(16, 8, [0, 1, 116, 117, size - 1, size + 1, size + 32], "commit")
      field(16, 8, [all - 288, all, all + 1, 1 << 31, 1 << 32, 1 << 48, 1 << 63, .max], "commit")
      field(24, 8, [1, 1 << 63], "zeros")
      field(0, 4, [0, UInt64(word(sample.bytes, at: commit.range.lowerBound))], "magic")
    }
  }

  func testEveryFieldOfACommitHeaderIsChecked() throws {
    let sample = try sample()
    for (number, commit) in sample.commits.enumerated() {
      let start = commit.range.lowerBound
      for flags in [0, 1, 2, 3, 0x8000_0000, 0xFFFF_FFFF] as [UInt64] {
        let changed = putting(sample.bytes, little(flags, count: 4), at: start + 4)
        guard changed != sample.bytes else { continue }
        assertFault(in: number, sample, changed, "commit \(number) flags \(flags)")
      }
      for generation in [0, UInt64(number), UInt64(number) + 2, .max] {
        let changed = putting(sample.bytes, little(generation, count: 8), at: start + 8)
        assertFault(in: number, sample, changed, "commit \(number) generation \(generation)")
      }
    }
  }
}

// MARK: - Files that change or are none

extension HostileContainerTests {
  /// A file that is not what it was when its size was asked for.
  private struct ChangingFile: ArchiveFile {
    let byteCount: Int
    let bytes: [UInt8]

    func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
      guard offset + count <= bytes.count else {
        throw ArchiveError(.truncated, offset: bytes.count)
      }
      return Array(bytes[offset..<offset + count])
    }
  }

  private struct ChangingStorage: ArchiveStorage {
    let file: ChangingFile
    let location = "changing"

    func open() throws(ArchiveError) -> (any ArchiveFile)? { file }
    func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? { nil }
    func lock() throws(ArchiveError) -> any ArchiveLock { throw ArchiveError(.locked) }
    func isLocked() throws(ArchiveError) -> Bool { false }
    func remove() throws(ArchiveError) {}
    func replace(
      _ body: (any ArchiveSink) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
      throw ArchiveError(.permissionDenied)
    }
  }

  private func open(
    _ bytes: [UInt8], saying byteCount: Int, _ recovery: ArchiveRecovery
  ) throws -> Archive {
    let archives = try archives.get()
    let storage = ChangingStorage(file: ChangingFile(byteCount: byteCount, bytes: bytes))
    let archive = try Archive.open(
      storage, key: archives.key, context: archives.context, recovery: recovery)
    guard let archive else { throw CocoaError(.fileNoSuchFile) }
    try archive.verifyAll()
    return archive
  }

  func testAFileThatShrinksWhileItIsReadIsTruncated() throws {
    let bytes = try sample().bytes
    for count in stride(from: 0, to: bytes.count, by: 97) {
      XCTAssertEqual(
        archiveError("\(count)") {
          _ = try open(Array(bytes[..<count]), saying: bytes.count, .strict)
        }, ArchiveError(.truncated, offset: count, location: "changing"), "\(count) bytes")
    }
  }

  func testAFileThatGrowsWhileItIsReadIsWhatItWas() throws {
    let sample = try sample()
    for (number, commit) in sample.commits.enumerated() {
      let archive = try open(sample.bytes, saying: commit.range.upperBound, .strict)
      XCTAssertEqual(archive.version.generation, UInt64(number) + 1)
    }
  }

  func testASparseFileOfATebibyteIsRefusedAtOnce() throws {
    let archives = try archives.get()
    let sample = try sample()
    let directory = try TemporaryDirectory()
    try directory.write(sample.bytes, to: "a.rka")
    let storage = FileStorage(path: directory.child("a.rka"))
    guard truncate(storage.path, 1 << 40) == 0 else { throw XCTSkip("No sparse files here.") }
    func open(_ recovery: ArchiveRecovery) throws -> Archive? {
      try Archive.open(
        storage, key: archives.key, context: archives.context, recovery: recovery)
    }
    XCTAssertEqual(archiveError { _ = try open(.strict) }?.code, .damaged)
    let archive = try XCTUnwrap(try open(.recover))
    XCTAssertEqual(archive.version.generation, 3)
    XCTAssertEqual(archive.dropped, ArchiveError(.damaged, offset: 55912, subject: "commit"))
    try directory.write([], to: "a.rka")
    XCTAssertEqual(truncate(storage.path, 1 << 40), 0)
    XCTAssertEqual(archiveError { _ = try open(.recover) }?.code, .notAnArchive)
  }

  func testAFileOfProcIsNoArchive() throws {
    let archives = try archives.get()
    guard FileManager.default.fileExists(atPath: "/proc/self/status") else {
      throw XCTSkip("There is no /proc here.")
    }
    // Its size is said to be 0.
    XCTAssertEqual(
      archiveError {
        _ = try Archive.open(
          FileStorage(path: "/proc/self/status"), key: archives.key, context: archives.context)
      }, ArchiveError(.truncated, offset: 0, location: "/proc/self/status"))
  }

  func testAHardLinkIsReadAndReplacedAlone() throws {
    let archives = try archives.get()
    let sample = try sample()
    let directory = try TemporaryDirectory()
    try directory.write(sample.bytes, to: "a.rka")
    XCTAssertEqual(link(directory.child("a.rka"), directory.child("b.rka")), 0)
    let storage = FileStorage(path: directory.child("b.rka"))
    let archive = try Archive.open(storage, key: archives.key, context: archives.context)
    XCTAssertEqual(archive?.version.generation, 3)
    _ = try Archive.write(
      try RecordBuilder().finish(), to: storage, key: archives.key, context: archives.context)
    XCTAssertEqual(try directory.bytes(of: "a.rka"), sample.bytes)
    XCTAssertNotEqual(try directory.bytes(of: "b.rka"), sample.bytes)
  }
}
