#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

/// What is left of a writer whose process was killed in a write.
final class AbandonedFileTests: XCTestCase {
  private static let variable = "ABANDONED_FILE"
  private static let written = "the whole archive"

  private func write(_ text: String, to storage: FileStorage) throws(ArchiveError) {
    try storage.replace { sink throws(ArchiveError) in try sink.write(Array(text.utf8)) }
  }

  /// The other process: writes all, says so, and ends the write when it is told.
  func testTheWriterThatIsKilled() throws {
    guard let path = ProcessInfo.processInfo.environment[Self.variable] else {
      throw XCTSkip("Runs in a process of its own.")
    }
    try FileStorage(path: path).replace { sink throws(ArchiveError) in
      try sink.write(Array(Self.written.utf8))
      AppUnderTest.say("written")
      _ = try? FileHandle.standardInput.readToEnd()
    }
  }

  /// A process that has written everything and not renamed it.
  private func writer(_ path: String) throws -> AppProcess {
    let process = try AppProcess.again(
      ["ArchiveCodecTests.AbandonedFileTests/testTheWriterThatIsKilled"],
      environment: [Self.variable: path])
    XCTAssertEqual(try process.answer(), "written")
    return process
  }

  /// What a killed process has left, which is named as a temporary file is.
  private func abandoned(in directory: TemporaryDirectory) throws -> String {
    try writer(directory.child("state.rka")).kill()
    let left = try directory.names().filter { $0.hasSuffix(".tmp") }
    XCTAssertEqual(left.count, 1)
    let name = try XCTUnwrap(left.first)
    XCTAssertEqual(try directory.bytes(of: name), Array(Self.written.utf8))
    return name
  }

  func testTheNextWriteRemovesWhatAKilledProcessLeft() throws {
    let directory = try TemporaryDirectory()
    _ = try abandoned(in: directory)
    try write("next", to: FileStorage(path: directory.child("state.rka")))
    XCTAssertEqual(try directory.names(), ["state.rka"])
  }

  func testARemovalRemovesWhatAKilledProcessLeftAlsoIfNothingIsStored() throws {
    for isStored in [false, true] {
      let directory = try TemporaryDirectory()
      let storage = FileStorage(path: directory.child("state.rka"))
      if isStored { try write("old", to: storage) }
      _ = try abandoned(in: directory)
      try storage.remove()
      XCTAssertEqual(try directory.names(), [])
    }
  }

  func testWhatAProcessStillWritesIsLeftToItWhateverTheClockSays() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    let writer = try writer(storage.path)
    for name in try directory.names() where name.hasSuffix(".tmp") {
      var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
      XCTAssertEqual(utimes(directory.child(name), &times), 0)
    }
    try write("meanwhile", to: storage)
    try storage.remove()
    XCTAssertEqual(try directory.names().count, 1)
    try writer.end()
    XCTAssertEqual(try directory.names(), ["state.rka"])
    XCTAssertEqual(try directory.bytes(of: "state.rka"), Array(Self.written.utf8))
  }

  func testAFileThatIsRemovedBeforeItsWriterHasLockedItIsMadeAnew() throws {
    let directory = try TemporaryDirectory()
    let place = Directory(directory.path)
    var made: [String] = []
    let file = try TemporaryFile(in: place, for: "state.rka") { () throws(ArchiveError) in
      made += (try? directory.names()) ?? []
      if made.count < 3 { try place.sweepTemporaries(of: "state.rka") }
    }
    XCTAssertEqual(Set(made).count, 3)
    XCTAssertEqual(try directory.names(), [Directory.name(of: file.path)])
    XCTAssertEqual(made.last, Directory.name(of: file.path))
  }

  func testWritersThatSweepAtTheSameTimeLeaveEachOtherAlone() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"), isDurable: false)
    let failures = Mutex<[ArchiveError]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { writer in
      for number in 0..<200 {
        do throws(ArchiveError) {
          try storage.replace { sink throws(ArchiveError) in
            try sink.write([UInt8](repeating: UInt8(writer), count: number))
          }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
    XCTAssertEqual(failures.withLock { $0 }, [])
    XCTAssertEqual(try directory.names(), ["state.rka"])
  }

  func testASweepTakesWhatIsNamedAndNothingElse() throws {
    let directory = try TemporaryDirectory()
    let stay = [
      ".other.rka.1.tmp", ".state.rka.1", ".state.rka.my notes.tmp", ".state.rka.tmp",
      "state.rka.1.tmp",
    ]
    for name in stay + [".state.rka.1.tmp", ".state.rka.zz9.tmp"] {
      try directory.write([1], to: name)
    }
    try Directory(directory.path).sweepTemporaries(of: "state.rka")
    XCTAssertEqual(try directory.names(), stay.sorted())
    XCTAssertNoThrow(try Directory(directory.child("none")).sweepTemporaries(of: "state.rka"))
  }

  func testWhatCannotBeLockedIsSweptOnceItIsOld() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    for name in [".state.rka.0ld.tmp", ".state.rka.fresh.tmp", ".state.rka.r00t.tmp"] {
      try directory.write([1], to: name)
      // Not even its owner may open it, so nobody can ask whether it is locked.
      XCTAssertEqual(chmod(directory.child(name), 0), 0)
      var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
      if !name.contains("fresh") { XCTAssertEqual(utimes(directory.child(name), &times), 0) }
      let owner = name.contains("r00t") ? getuid() : OrdinaryUser.identifier
      if OrdinaryUser.isNeeded { chown(directory.child(name), owner, owner) }
    }
    if OrdinaryUser.isNeeded {
      chown(directory.path, OrdinaryUser.identifier, OrdinaryUser.identifier)
    }
    let user = OrdinaryUser()
    let removed = Result { try storage.remove() }
    _ = consume user
    XCTAssertNoThrow(try removed.get())
    XCTAssertEqual(
      try directory.names(),
      [".state.rka.fresh.tmp"] + (OrdinaryUser.isNeeded ? [".state.rka.r00t.tmp"] : []))
  }
}
#endif
