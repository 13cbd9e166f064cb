import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import XCTest

/// The moments of a state in a file, and in storages of their own.
final class MomentStoreTests: XCTestCase {
  private let date = Date(timeIntervalSince1970: 1_700_000_000)

  private enum Kind: CaseIterable { case links, noLinks, copies }

  /// Makes a state, and runs a body with the place of its moments.
  private func forAll(
    _ body: (Kind, any ArchiveStorage, MomentStore) throws -> Void
  ) throws {
    for kind in Kind.allCases {
      let files = try FilesOfTest()
      let memory = MemoryStateDirectory()
      let path = files.child("main.rka")
      let history = files.child("main.history")
      switch kind {
      case .links:
        try body(kind, FileStorage(path: path), MomentStore(linking: path, in: history))
      case .noLinks:
        let moments = MomentStore(
          linking: path, in: history,
          by: { _, _ in
            errno = EPERM
            return -1
          })
        try body(kind, FileStorage(path: path), moments)
      case .copies:
        try body(kind, memory.storage(named: "main"), MomentStore(copying: "main", in: memory))
      }
    }
  }

  private func put(_ text: String, into storage: any ArchiveStorage) throws {
    try storage.replace { sink throws(ArchiveError) in try sink.write(Array(text.utf8)) }
  }

  private func append(_ text: String, to storage: any ArchiveStorage) throws {
    let file = try XCTUnwrap(try storage.openForAppending())
    try file.write(Array(text.utf8), at: file.byteCount)
  }

  private func texts(_ moments: MomentStore) throws -> [String] {
    try moments.all().map { String(decoding: try moments.bytes(of: $0), as: UTF8.self) }
  }

  func testAMomentHasWhatWasStoredThenWhateverIsAppendedOrPutInItsPlace() throws {
    try forAll { kind, storage, moments in
      XCTAssertEqual(try moments.all(), [], "\(kind)")
      XCTAssertNil(try moments.keep(.session, at: date), "Nothing is stored.")
      try put("one", into: storage)
      let first = try XCTUnwrap(try moments.keep(.session, at: date))
      XCTAssertEqual(first.date, date)
      XCTAssertEqual(first.byteCount, 3)
      try append(" two", to: storage)
      _ = try moments.keep(.version, at: date)
      try put("other", into: storage)
      _ = try moments.keep(.crashed, at: date)
      XCTAssertEqual(try texts(moments), ["one", "one two", "other"], "\(kind)")
      XCTAssertEqual(try moments.all().map(\.reason), [.session, .version, .crashed])
      XCTAssertEqual(try moments.all().first, first.withoutPlace)
      try moments.remove([first])
      try moments.remove([first])
      XCTAssertEqual(try texts(moments), ["one two", "other"], "\(kind)")
    }
  }

  func testOrderIsThatOfKeepingAlsoIfTheClockWasSetBackOrGivesNoTime() throws {
    try forAll { kind, storage, moments in
      let dates = [
        date, date.addingTimeInterval(-1000), .distantFuture, .distantPast,
        Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan), date,
      ]
      for (number, date) in dates.enumerated() {
        try put("\(number)", into: storage)
        XCTAssertNotNil(try moments.keep(.unread, at: date), "\(kind) \(number)")
      }
      XCTAssertEqual(try texts(moments), dates.indices.map { "\($0)" }, "\(kind)")
    }
  }

  func testTheSameBytesAreKeptOnceForOneReason() throws {
    try forAll { kind, storage, moments in
      try put("one", into: storage)
      let first = try moments.keep(.session, at: date)
      XCTAssertEqual(try moments.keep(.session, at: date.addingTimeInterval(1)), first, "\(kind)")
      XCTAssertNotEqual(try moments.keep(.version, at: date), first)
      XCTAssertEqual(try moments.all().map(\.isOfMain), [true, true])
      try put("two", into: storage)
      XCTAssertEqual(try moments.all().map(\.isOfMain), [false, false], "\(kind)")
      _ = try moments.keep(.session, at: date)
      XCTAssertEqual(try moments.all().count, 3)
    }
  }

  func testOtherBytesThatAreAsManyAreKeptToo() throws {
    try forAll { kind, storage, moments in
      let start = String(repeating: "a", count: 200)
      for end in ["one", "two", "six"] {
        try put(start + end, into: storage)
        _ = try moments.keep(.unread, at: date)
      }
      XCTAssertEqual(try texts(moments).map { $0.suffix(3) }, ["one", "two", "six"], "\(kind)")
    }
  }

  func testALinkTakesNoSpace() throws {
    let files = try FilesOfTest()
    try files.write(Array("state".utf8), to: "main.rka")
    let moments = MomentStore(
      linking: files.child("main.rka"), in: files.child("main.history"))
    let moment = try XCTUnwrap(try moments.keep(.session, at: date))
    let attributes = try FileManager.default.attributesOfItem(
      atPath: files.child("main.history/\(moment.id)"))
    XCTAssertEqual(attributes[.referenceCount] as? Int, 2)
  }

  func testWhatIsNoMomentIsNotListedAndNotRemoved() throws {
    let files = try FilesOfTest()
    try files.write(Array("state".utf8), to: "main.rka")
    let moments = MomentStore(
      linking: files.child("main.rka"), in: files.child("main.history"))
    _ = try moments.keep(.session, at: date)
    try files.write([1], to: "main.history/notes.txt")
    try FileManager.default.createDirectory(
      atPath: files.child("main.history/000000009-1-session-5"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: files.child("main.history/000000008-1-session-5"), withDestinationPath: "/etc/passwd")
    let all = try moments.all()
    XCTAssertEqual(all.count, 1)
    try moments.remove(all)
    XCTAssertEqual(
      try files.names(in: "main.history"),
      ["000000008-1-session-5", "000000009-1-session-5", "notes.txt"])
    XCTAssertNotNil(try moments.keep(.session, at: date))
  }

  func testAMomentThatWasCutOffGivesWhatIsThere() throws {
    let files = try FilesOfTest()
    try files.write(Array("state".utf8), to: "main.rka")
    let moments = MomentStore(
      linking: files.child("main.rka"), in: files.child("main.history"))
    try FileManager.default.createDirectory(
      atPath: files.child("main.history"), withIntermediateDirectories: true)
    try files.write([1, 2], to: "main.history/000000001-1-session-999999999999")
    let moment = try XCTUnwrap(try moments.all().first)
    XCTAssertEqual(try moments.bytes(of: moment), [1, 2])
  }

  func testWithoutASyncOfItsDirectoryNothingIsKept() throws {
    let files = try FilesOfTest()
    try files.write(Array("state".utf8), to: "main.rka")
    let fails = Mutex(true)
    let moments = MomentStore(
      linking: files.child("main.rka"), in: files.child("main.history"),
      synchronizingDirectory: { _ in
        errno = EIO
        return fails.withLock { $0 } ? -1 : 0
      })
    XCTAssertThrowsError(try moments.keep(.replaced, at: date)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .inputOutput)
    }
    XCTAssertEqual(try files.names(in: "main.history"), [])
    fails.withLock { $0 = false }
    XCTAssertNotNil(try moments.keep(.replaced, at: date))
  }

  func testAnEmptyFileIsNotKeptAndALinkIsRefused() throws {
    try forAll { kind, storage, moments in
      try put("", into: storage)
      XCTAssertNil(try moments.keep(.unread, at: date), "\(kind)")
      XCTAssertEqual(try moments.all(), [], "\(kind)")
    }
    let files = try FilesOfTest()
    try FileManager.default.createSymbolicLink(
      atPath: files.child("main.rka"), withDestinationPath: "/etc/passwd")
    let moments = MomentStore(
      linking: files.child("main.rka"), in: files.child("main.history"))
    XCTAssertThrowsError(try moments.keep(.unread, at: date)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .notAFile)
    }
  }

  func testADirectoryInThePlaceOfTheStateIsNotKept() throws {
    let files = try FilesOfTest()
    try FileManager.default.createDirectory(
      atPath: files.child("main.rka/below"), withIntermediateDirectories: true)
    let moments = MomentStore(
      linking: files.child("main.rka"), in: files.child("main.history"))
    XCTAssertThrowsError(try moments.keep(.unread, at: date)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .notAFile)
    }
  }
}

extension Moment {
  /// The moment as it is listed when another archive is stored.
  fileprivate var withoutPlace: Moment {
    var moment = self
    moment.isOfMain = false
    return moment
  }
}
