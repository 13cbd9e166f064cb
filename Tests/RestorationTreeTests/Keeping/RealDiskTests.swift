#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Saves on a real file system without room, and on one whose power is cut.
///
/// Set `FULL_DISK_ROUNDS` for another number of rounds than 5, and `POWER_CUTS` for the
/// number of cuts: they need root, ext4 and loop devices, and are left out otherwise.
final class RealDiskTests: XCTestCase {
  private var random = SeededGenerator()

  @MainActor
  func testOnAFullDiskSavesFailAndNothingIsLostAndWithRoomTheyGoOn() async throws {
    let rounds = LongTests.given("FULL_DISK_ROUNDS") ?? 5
    let directory = try TemporaryDirectory()
    // Room for a journal of full length, and for the file that takes its place.
    let disk = try SmallDisk(over: directory.path, byteCount: 1 << 19)
    let keys = MemoryKeyProvider()
    var number = 0
    var failureCount = 0
    for round in 0..<rounds {
      let what = "round \(round), seed \(random.seed)"
      let keeper = try StateKeeper(
        application: Launch.application, directory: FileStateDirectory(path: directory.path),
        keys: keys)
      let root = TrackedNode("root")
      let report = try await keeper.restore(into: [root])
      XCTAssertEqual(report.outcome, number == 0 ? .noArchive : .restored, what)
      XCTAssertEqual(root.value.prefix { $0 != " " }, number == 0 ? "" : "\(number)", what)
      func save() async throws {
        let size = Int.random(in: 0...1500, using: &random)
        root.value = "\(number + 1) " + String(repeating: "x", count: size)
        let report = try await keeper.save([root])
        XCTAssertEqual(report.outcome, .saved, what)
        XCTAssertNil(report.setAside, what)
        number += 1
      }
      for _ in 0..<Int.random(in: 1...5, using: &random) { try await save() }
      var (isFull, saveCount) = (false, 0)
      while !isFull {
        // Nothing is free but a part of a page or two. A journal that is rewritten while its new file
        // has room may give room again and again, so the disk is filled again.
        if saveCount.isMultiple(of: 32) {
          try fill(directory, except: .random(in: 0...6000, using: &random))
        }
        saveCount += 1
        do throws(any Error) {
          try await save()
        } catch let error as RestorationError {
          XCTAssertEqual(error.archive?.code, .storageFull, what)
          isFull = true
          failureCount += 1
        }
      }
      let found = TrackedNode("root")
      if Bool.random(using: &random) {
        await keeper.close()
        let other = try StateKeeper(
          application: Launch.application, directory: FileStateDirectory(path: directory.path),
          keys: keys)
        _ = try await other.restore(into: [found])
        XCTAssertEqual(found.value.prefix { $0 != " " }, "\(number)", what)
        await other.close()
        try FileManager.default.removeItem(atPath: directory.child("filler"))
        continue
      }
      try FileManager.default.removeItem(atPath: directory.child("filler"))
      try await save()
      await keeper.close()
    }
    XCTAssertEqual(failureCount, rounds)
    XCTAssertEqual(
      try directory.names().filter {
        !$0.hasPrefix(".") && !$0.hasSuffix(".rka") && !$0.hasPrefix("main.rka.previous-")
          && $0 != "main.history"
      }, [])
    withExtendedLifetime(disk) {}
  }

  /// Writes until there is no room, and then gives some back.
  private func fill(_ directory: borrowing TemporaryDirectory, except byteCount: Int) throws {
    let path = directory.child("filler")
    try Data().write(to: URL(filePath: path))
    let file = try XCTUnwrap(FileHandle(forWritingAtPath: path))
    defer { try? file.close() }
    var written = 0
    do {
      while true {
        try file.write(contentsOf: Data(count: 512))
        written += 512
      }
    } catch {
      try file.truncate(atOffset: UInt64(max(0, written - byteCount)))
    }
  }

  func testWhatWasSaidToBeStoredComesBackAfterAPowerCut() throws {
    guard let cuts = LongTests.given("POWER_CUTS") else {
      throw XCTSkip("Scripts/soak sets POWER_CUTS, and then the power of a disk is cut.")
    }
    let directory = try TemporaryDirectory()
    let disk = try ImageDisk(in: directory)
    // What may come back: at least what was said to be stored before the cut.
    var allowed = 0...1
    for cut in 0..<cuts {
      let what = "cut \(cut), seed \(random.seed)"
      try disk.mount()
      let process = try AppProcess.again(
        ["RestorationTreeTests.KilledKeeperTests/testTheKeeperThatIsKilled"], folder: disk.path)
      var lines: [String] = []
      let count = Int.random(in: 1...15, using: &random)
      while lines.count < count, let line = try process.answer() { lines.append(line) }
      let end = ContinuousClock.now + .microseconds(.random(in: 0...6000, using: &random))
      while ContinuousClock.now < end {}
      // In the midst of its shutdown ext4 says of a sync that it is done when its journal was
      // thrown away. No power cut leaves a process that could be told so.
      let moment = DispatchTime.now().uptimeNanoseconds
      try disk.cutPower()
      XCTAssertEqual(process.kill(), .killed(signal: SIGKILL))
      lines += try process.remainingAnswers()
      try disk.unmount()
      guard let first = lines.first else { continue }
      guard let number = KilledKeeperTests.restoredNumber(first, what) else { return }
      XCTAssertTrue(allowed.contains(number), "\(what): \(number) of \(allowed)")
      var (least, last) = (number, number)
      for line in lines.dropFirst() where line != "failed" {
        let words = line.split(separator: " ")
        last += 1
        XCTAssertEqual(words.prefix(2), ["saved", "\(last)"], what)
        if let time = words.last.flatMap({ UInt64($0) }), time < moment { least = last }
      }
      allowed = least...last + 1
    }
    XCTAssertGreaterThan(allowed.lowerBound, 0)
  }
}
#endif
