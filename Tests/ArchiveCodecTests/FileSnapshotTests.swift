import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

/// What files contained at one time, in a directory beside them.
final class FileSnapshotTests: XCTestCase {
  private var directory: TemporaryDirectory?

  private func path() throws -> String {
    if let directory { return directory.path }
    let made = try TemporaryDirectory()
    directory = made
    return made.path
  }

  override func tearDown() { directory = nil }

  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path())/\(name)"), options: .atomic)
  }

  private func append(_ text: String, _ name: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: "\(path())/\(name)"))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  private func snapshots(
    _ before: @escaping @Sendable () throws(ArchiveError) -> Void = { () throws(ArchiveError) in }
  ) throws -> FileSnapshots {
    FileSnapshots("\(try path())/kept", of: try path(), beforeChange: before)
  }

  private func content(
    of name: String, in snapshot: FileSnapshots.Snapshot, _ all: FileSnapshots
  ) throws -> String? {
    guard let file = try all.storage(of: name, in: snapshot)?.open() else { return nil }
    return String(decoding: try file.read(at: 0, count: file.byteCount), as: UTF8.self)
  }

  /// The files of all snapshots, the oldest first.
  private func contents(_ all: FileSnapshots) throws -> [[String: String]] {
    try all.all().map { snapshot in
      var found: [String: String] = [:]
      for name in snapshot.byteCounts.keys {
        found[name] = try content(of: name, in: snapshot, all)
      }
      return found
    }
  }

  func testASnapshotHasWhatTheFilesHadWhateverHappensToThem() throws {
    try write("one", "a.rka")
    try write("two", "b.rka")
    let kept = try snapshots()
    try kept.keep(["a.rka", "b.rka", "missing.rka"])
    try append(" and more", "a.rka")
    try FileManager.default.removeItem(atPath: "\(path())/b.rka")
    XCTAssertEqual(try contents(kept), [["a.rka": "one", "b.rka": "two"]])
    try write("new", "a.rka")
    XCTAssertEqual(try contents(kept), [["a.rka": "one", "b.rka": "two"]])
  }

  func testTheSameIsKeptOnce() throws {
    try write("one", "a.rka")
    let kept = try snapshots()
    for _ in 0..<3 { try kept.keep(["a.rka"]) }
    XCTAssertEqual(try contents(kept), [["a.rka": "one"]])
    try append("!", "a.rka")
    try kept.keep(["a.rka"])
    try kept.keep(["a.rka"])
    XCTAssertEqual(try contents(kept), [["a.rka": "one"], ["a.rka": "one!"]])
    XCTAssertEqual(try kept.all().map(\.byteCount), [3, 4])
  }

  func testAFileThatOnlyBelongsToASnapshotMakesNoOtherOne() throws {
    try write("list", "list.rka")
    let kept = try snapshots()
    try kept.keep([], with: ["list.rka"])
    XCTAssertEqual(try kept.all(), [])
    try write("one", "a.rka")
    try kept.keep(["a.rka"], with: ["list.rka", "missing.rka"])
    try write("list 2", "list.rka")
    try kept.keep(["a.rka"], with: ["list.rka"])
    XCTAssertEqual(try contents(kept), [["a.rka": "one", "list.rka": "list"]])
    try append("!", "a.rka")
    try kept.keep(["a.rka"], with: ["list.rka"])
    XCTAssertEqual(try contents(kept).last, ["a.rka": "one!", "list.rka": "list 2"])
  }

  func testNothingIsKeptOfNothing() throws {
    try FileManager.default.createDirectory(
      atPath: "\(path())/folder.rka", withIntermediateDirectories: false)
    _ = FileManager.default.createFile(atPath: "\(try path())/empty.rka", contents: nil)
    try FileManager.default.createSymbolicLink(
      atPath: "\(path())/link.rka", withDestinationPath: "/etc/passwd")
    let kept = try snapshots()
    try kept.keep([])
    try kept.keep(["missing.rka", "folder.rka", "empty.rka", "link.rka"])
    XCTAssertEqual(try kept.all(), [])
    XCTAssertFalse(FileManager.default.fileExists(atPath: kept.location))
  }

  func testASnapshotCannotBeChanged() throws {
    try write("one", "a.rka")
    let kept = try snapshots()
    try kept.keep(["a.rka"])
    let storage = try XCTUnwrap(kept.storage(of: "a.rka", in: XCTUnwrap(kept.all().first)))
    XCTAssertNil(kept.storage(of: "b.rka", in: try XCTUnwrap(kept.all().first)))
    XCTAssertThrowsError(try storage.openForAppending())
    XCTAssertThrowsError(try storage.replace { (_) throws(ArchiveError) in })
    XCTAssertThrowsError(try storage.remove())
    XCTAssertThrowsError(try storage.setAside())
    XCTAssertThrowsError(try storage.lock())
    XCTAssertThrowsError(try storage.open()?.read(at: 0, count: 4))
    XCTAssertThrowsError(try storage.open()?.read(at: .max, count: 1))
    XCTAssertEqual(try contents(kept), [["a.rka": "one"]])
  }

  func testOtherFilesAreNoSnapshotsAndStay() throws {
    try write("one", "a.rka")
    let kept = try snapshots()
    try kept.keep(["a.rka"])
    let others = [
      "notes", ".notes", "000000000001-000000001-0", "../escape",
      ".000000000001-x-0000000000000000",
    ]
    for name in others {
      try FileManager.default.createDirectory(
        atPath: "\(kept.location)/\(name)", withIntermediateDirectories: true)
    }
    XCTAssertEqual(try contents(kept), [["a.rka": "one"]])
    try kept.removeAll()
    XCTAssertEqual(try kept.all(), [])
    for name in others {
      XCTAssertTrue(FileManager.default.fileExists(atPath: "\(kept.location)/\(name)"), name)
    }
  }

  func testSnapshotsGoOneByOneOrAll() throws {
    let kept = try snapshots()
    for text in ["one", "two", "three"] {
      try write(text, "a.rka")
      try kept.keep(["a.rka"])
    }
    let all = try kept.all()
    try kept.remove([all[1]])
    try kept.remove([all[1]])
    XCTAssertEqual(try contents(kept), [["a.rka": "one"], ["a.rka": "three"]])
    try kept.removeAll()
    try kept.removeAll()
    XCTAssertEqual(try kept.all(), [])
    XCTAssertFalse(FileManager.default.fileExists(atPath: kept.location))
    XCTAssertTrue(FileManager.default.fileExists(atPath: "\(try path())/a.rka"))
  }

  // MARK: Kills

  /// Ends a process before one of its changes.
  private final class Kill: Sendable {
    let error = ArchiveError(.inputOutput, location: "killed")
    private let left: Mutex<Int>
    /// Whether nothing is done any more, not even to clean up.
    init(after count: Int) { left = Mutex(count) }
    var isDead: Bool { left.withLock { $0 < 0 } }
    func note() throws(ArchiveError) {
      let isOver = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isOver { throw error }
    }
  }

  /// Kills a body before its first change, its second one and so on, until it runs to its end.
  ///
  /// After each, `check` looks, and the next process runs the body to its end.
  private func killEverywhere(
    _ prepare: () throws -> Void, _ body: (FileSnapshots) throws -> Void,
    check: (_ killedBefore: Int) throws -> Void
  ) throws -> Int {
    var count = 0
    while true {
      directory = nil
      try prepare()
      let kill = Kill(after: count)
      do {
        try body(snapshots { () throws(ArchiveError) in try kill.note() })
      } catch let error as ArchiveError {
        guard kill.isDead else { throw error }
      }
      try check(count)
      try body(snapshots())
      try check(.max)
      guard kill.isDead else { return count }
      count += 1
    }
  }

  func testAKillBetweenAnyTwoCallsLosesNoSnapshotAndLeavesNoHalfOne() throws {
    let names = ["a.rka", "b.rka", "c.rka"]
    let old = Dictionary(uniqueKeysWithValues: names.map { ($0, "old \($0)") })
    let new = Dictionary(uniqueKeysWithValues: names.map { ($0, "old \($0), new") })
    let count = try killEverywhere {
      for name in names { try write("old \(name)", name) }
      try snapshots().keep(names)
      for name in names { try append(", new", name) }
    } _: {
      try $0.keep(names)
    } check: { place in
      let found = try contents(snapshots())
      XCTAssertTrue(place == .max ? found == [old, new] : found == [old] || found == [old, new])
      for name in names {
        XCTAssertEqual(
          try String(contentsOfFile: "\(path())/\(name)", encoding: .utf8), new[name])
      }
      if place == .max {
        XCTAssertEqual(
          try FileManager.default.contentsOfDirectory(atPath: "\(path())/kept").count, 2)
      }
    }
    XCTAssertEqual(count, 5)
  }

  func testAKillWhileASnapshotIsRemovedLeavesItWholeOrNot() throws {
    let names = ["a.rka", "b.rka"]
    let count = try killEverywhere {
      for text in ["one", "two"] {
        for name in names { try write(text, name) }
        try snapshots().keep(names)
      }
    } _: { all in
      if let first = try all.all().first(where: { _ in try all.all().count == 2 }) {
        try all.remove([first])
      } else {
        // What is left of a removal goes with the next change.
        try write("three", "a.rka")
        try all.keep(names)
      }
    } check: { _ in
      for snapshot in try snapshots().all() { XCTAssertEqual(snapshot.byteCounts.count, 2) }
      XCTAssertTrue(try contents(snapshots()).contains(["a.rka": "two", "b.rka": "two"]))
    }
    XCTAssertEqual(count, 4)
  }

  func testSnapshotsWithoutLinksAreAnErrorAndLeaveNothing() throws {
    try write("one", "a.rka")
    let left = Mutex(1)
    let kept = try snapshots { () throws(ArchiveError) in
      let isLink = left.withLock { left in
        left -= 1
        return left == -1
      }
      if isLink { throw ArchiveError(systemError: EPERM) }
    }
    XCTAssertThrowsError(try kept.keep(["a.rka"]))
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: kept.location), [])
  }
}
