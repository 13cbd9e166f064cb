import ArchiveCodec
import Synchronization
import TestSupport
import XCTest

/// What a reader finds while a writer has the archive open.
final class LiveWriterTests: JournalTestCase {
  private func open(
    _ storage: any ArchiveStorage, _ recovery: ArchiveRecovery = .strict
  ) throws -> Archive {
    let archives = try archives.get()
    let archive = try Archive.open(
      storage, key: archives.key, context: archives.context, recovery: recovery)
    return try XCTUnwrap(archive)
  }

  func testAChangeThatIsNotWholeYetIsNoDamageBesideAWriterAndTruncationWithoutOne() throws {
    let (bytes, ends, states) = try history()
    for end in ends[2]..<ends[3] {
      let storage = MemoryStorage(Array(bytes[..<end]))
      let lock = try storage.lock()
      for recovery in [ArchiveRecovery.strict, .recover] {
        let archive = try open(storage, recovery)
        XCTAssertNil(archive.dropped, "\(end)")
        XCTAssertEqual(try texts(archive), states[2], "\(end)")
      }
      _ = consume lock
      guard end > ends[2] else { continue }
      XCTAssertEqual(
        archiveError { _ = try self.open(storage) },
        ArchiveError(.truncated, offset: end, location: "memory"), "\(end)")
      XCTAssertEqual(
        try open(storage, .recover).dropped, ArchiveError(.truncated, offset: end), "\(end)")
    }
  }

  func testAFileTellsTheTwoApartByItsLock() throws {
    let (bytes, ends, states) = try history()
    let directory = try TemporaryDirectory()
    try directory.write(Array(bytes[..<(ends[3] - 1)]), to: "a.rka")
    let storage = FileStorage(path: directory.child("a.rka"))
    XCTAssertEqual(archiveError { _ = try self.open(storage) }?.code, .truncated)
    let writer = try writer(storage)
    XCTAssertEqual(try texts(try open(storage)), states[2])
    // The writer itself knows that nobody is going to finish it.
    XCTAssertEqual(try XCTUnwrap(writer.archive).dropped, ArchiveError(.truncated, offset: 1098))
  }

  func testDamageIsDamageAlsoBesideAWriter() throws {
    let (bytes, ends, _) = try history()
    for place in ends[1]..<ends[3] where place % 7 == 0 {
      var damaged = bytes
      damaged[place] ^= 1
      let storage = MemoryStorage(damaged)
      let lock = try storage.lock()
      let expected = archiveError { _ = try self.open(damaged) }?.code
      // A damaged length may say that more is to come; all else is damage.
      guard expected == .damaged else { continue }
      XCTAssertEqual(
        archiveError { _ = try self.open(storage) }?.code, .damaged, "\(place)")
      _ = consume lock
    }
  }

  func testAWholeChangeWithADamagedLengthIsDamageAlsoBesideAWriter() throws {
    let (bytes, ends, _) = try history()
    for end in ends.dropLast() {
      var damaged = bytes
      // The length of the next commit's only chunk: more than there is.
      damaged[end + 32 + 1] += 40
      let storage = MemoryStorage(damaged)
      let lock = try storage.lock()
      XCTAssertNotNil(archiveError { _ = try self.open(storage) })
      XCTAssertNotNil(try open(storage, .recover).dropped)
      _ = consume lock
    }
  }

  func testAChangeThatIsFinishedMeanwhileIsReadInASecondTry() throws {
    let (bytes, ends, states) = try history()
    for end in [ends[2] + 1, ends[3] - 1] {
      let storage = GrowingStorage([Array(bytes[..<end]), bytes])
      let archive = try open(storage)
      XCTAssertNil(archive.dropped)
      XCTAssertEqual(try texts(archive), states[3])
    }
  }

  func testAFileThatChangesAtEveryLookIsNotReadForEver() throws {
    let (bytes, ends, _) = try history()
    let torn = (1...100).map { Array(bytes[..<(ends[2] + $0)]) }
    XCTAssertEqual(
      archiveError { _ = try self.open(GrowingStorage(torn)) },
      ArchiveError(.locked, subject: "it changes faster than it can be read", location: "growing"))
  }

  func testAStrictReaderNeverFailsBesideALiveWriter() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.child("a.rka")
    let storage = FileStorage(path: path, isDurable: false)
    let isDone = Flag()
    let writer = try writer(storage)
    try write(writer, [1: String(repeating: "long", count: 1 << 20)])
    let writing = Task.detached {
      defer { isDone.raise() }
      for number in 0..<40 {
        let builder = writer.builder()
        try builder.append(record: UInt64(number % 3 + 2)) {
          $0.encode(String(repeating: "text \(number)", count: 100_000), forKey: "text")
        }
        try writer.append(builder.finish())
      }
    }
    var last: UInt64 = 0
    var openCount = 0
    while !isDone.isRaised {
      let archive = try open(storage)
      XCTAssertNil(archive.dropped)
      XCTAssertGreaterThanOrEqual(archive.version.generation, last)
      last = archive.version.generation
      openCount += 1
    }
    try await writing.value
    XCTAssertGreaterThan(openCount, 1)
  }
}

/// Shows the next of several contents each time it is opened.
private final class GrowingStorage: ArchiveStorage {
  private let contents: Mutex<[[UInt8]]>
  let location = "growing"

  init(_ contents: [[UInt8]]) {
    self.contents = Mutex(contents)
  }

  func open() throws(ArchiveError) -> (any ArchiveFile)? {
    let bytes = contents.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    return try MemoryStorage(bytes).open()
  }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? { nil }
  func lock() throws(ArchiveError) -> any ArchiveLock { throw ArchiveError(.locked) }
  func isLocked() throws(ArchiveError) -> Bool { false }
  func remove() throws(ArchiveError) {}
  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {}
}

private final class Flag: Sendable {
  private let value = Mutex(false)

  var isRaised: Bool { value.withLock { $0 } }

  func raise() { value.withLock { $0 = true } }
}
