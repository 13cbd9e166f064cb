import Foundation
import RestorationDrafts
import TestSupport
import XCTest

final class FileStampTests: XCTestCase {
  private var folder = URL(filePath: "/")

  override func setUpWithError() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "stamps-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws {
    try FileManager.default.removeItem(at: folder)
  }

  private func url(_ name: String = "draft.txt") -> URL { folder.appending(path: name) }

  @discardableResult
  private func write(_ text: String, _ name: String = "draft.txt") throws -> URL {
    let url = url(name)
    // Written in place, with the inode that it has.
    if !FileManager.default.fileExists(atPath: url.path) {
      _ = FileManager.default.createFile(atPath: url.path, contents: nil)
    }
    let file = try FileHandle(forWritingTo: url)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
    return url
  }

  /// The time by the system's clock, so many seconds from now.
  private func clock(_ seconds: Int) -> () -> Int {
    { Int(Date.now.timeIntervalSince1970) + seconds }
  }

  private func assertChanged(
    _ comparison: FileStamp.Comparison, _ text: String, line: UInt = #line
  ) throws {
    guard case .changed(let now) = comparison else {
      return XCTFail("\(comparison)", line: line)
    }
    XCTAssertEqual(now.content, try ContentStamp(hashing: Data(text.utf8)), line: line)
  }

  func testAFileThatNobodyHasTouchedIsTheSame() throws {
    for seconds in [0, 10] {
      let stamp = try FileStamp(of: write("abc"), now: clock(seconds))
      XCTAssertEqual(stamp.content, try ContentStamp(hashing: Data("abc".utf8)))
      XCTAssertEqual(stamp.compare(with: url()), .same)
    }
  }

  func testAFileThatWasWrittenAgainWithItsBytesIsTheSame() throws {
    let stamp = try FileStamp(of: write("abc"), now: clock(10))
    try write("abc")
    XCTAssertEqual(stamp.compare(with: url()), .same)
    // Also as another file.
    try Data("abc".utf8).write(to: url(), options: .atomic)
    XCTAssertEqual(stamp.compare(with: url()), .same)
    XCTAssertEqual(stamp.compare(with: try write("abc", "copy")), .same)
  }

  func testAFileWithOtherBytesHasChanged() throws {
    let stamp = try FileStamp(of: write("abc"), now: clock(10))
    for text in ["abd", "ab", "abcd", ""] {
      try write(text)
      try assertChanged(stamp.compare(with: url()), text)
    }
    try Data("abd".utf8).write(to: url(), options: .atomic)
    try assertChanged(stamp.compare(with: url()), "abd")
  }

  /// Somebody may write a file twice while the clock of the file system stands still.
  func testOnlyALargeFileWithSettledTimesIsNotReadAgain() throws {
    let large = String(repeating: "a", count: 1 << 20)
    for (text, isBelieved) in [("abc", false), (String(large.dropLast()), false), (large, true)] {
      let stamp = try FileStamp(of: write(text), now: clock(0))
      let settled = try FileStamp(of: url(), now: clock(10))
      // The inode, the size and the times are the same, and only a read shows the other bytes.
      let others = "b" + text.dropFirst()
      let other = try write(others, "other")
      let forged = try forging(stamp, facts: FileStamp(of: other))
      try assertChanged(forged.compare(with: other), others)
      // After two seconds the times are believed, if the file is so large that reading it takes its time.
      let later = try forging(settled, facts: FileStamp(of: other)).compare(with: other)
      if isBelieved {
        XCTAssertEqual(later, .same)
      } else {
        try assertChanged(later, others)
      }
    }
  }

  func testAWriteThroughAMappingIsSeen() throws {
    try write("abc")
    let file = open(url().path, O_RDWR)
    defer { close(file) }
    let mapping = try XCTUnwrap(mmap(nil, 3, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
    defer { munmap(mapping, 3) }
    // The page is in use from here on, so the system does not see the next write.
    mapping.storeBytes(of: UInt8(ascii: "x"), as: UInt8.self)
    let stamp = try FileStamp(of: url(), now: clock(10))
    mapping.storeBytes(of: UInt8(ascii: "y"), as: UInt8.self)
    try assertChanged(stamp.compare(with: url()), "ybc")
  }

  /// A stamp with the content and the trust of one stamp, and the facts of another one.
  private func forging(_ stamp: FileStamp, facts: FileStamp) throws -> FileStamp {
    func values(_ stamp: FileStamp) throws -> [String: Any] {
      try XCTUnwrap(
        JSONSerialization.jsonObject(with: JSONEncoder().encode(stamp)) as? [String: Any])
    }
    var forged = try values(facts)
    for key in ["content", "isSettled"] { forged[key] = try values(stamp)[key] }
    return try JSONDecoder().decode(
      FileStamp.self, from: JSONSerialization.data(withJSONObject: forged))
  }

  func testTimesAreBelievedWhenTheyAreOlderThanTwoSeconds() throws {
    try write("abc")
    let written = try XCTUnwrap(
      FileManager.default.attributesOfItem(atPath: url().path)[.modificationDate] as? Date)
    let second = Int(written.timeIntervalSince1970)
    for (seconds, isSettled) in [(-5, false), (0, false), (2, false), (3, true), (1000, true)] {
      let stamp = try FileStamp(of: url()) { second + seconds }
      let values = try JSONSerialization.jsonObject(with: JSONEncoder().encode(stamp))
      XCTAssertEqual((values as? [String: Any])?["isSettled"] as? Bool, isSettled, "\(seconds)")
    }
  }

  func testALinkIsFollowed() throws {
    try write("abc")
    try FileManager.default.createSymbolicLink(at: url("link"), withDestinationURL: url())
    let stamp = try FileStamp(of: url("link"))
    XCTAssertEqual(stamp.compare(with: url()), .same)
    try write("abd")
    try assertChanged(stamp.compare(with: url("link")), "abd")
  }

  func testWhatIsNotThereIsGone() throws {
    let stamp = try FileStamp(of: write("abc"))
    try FileManager.default.removeItem(at: url())
    try FileManager.default.createSymbolicLink(at: url("link"), withDestinationURL: url())
    try write("a file", "file")
    for place in [url(), url("link"), url("no/such/folder"), url("file/below")] {
      XCTAssertEqual(stamp.compare(with: place), .gone, place.path)
      XCTAssertThrowsError(try FileStamp(of: place)) {
        XCTAssertEqual(($0 as? DraftError)?.code, .gone, place.path)
      }
    }
  }

  func testOnlyRegularFilesAreOpened() throws {
    let stamp = try FileStamp(of: write("abc"))
    XCTAssertEqual(mkfifo(url("fifo").path, 0o600), 0)
    try FileManager.default.createSymbolicLink(at: url("loop"), withDestinationURL: url("loop"))
    let places = [
      folder, url("fifo"), url("loop"), URL(filePath: "/dev/zero"), URL(filePath: "/dev/tty"),
      URL(string: "https://example.org/draft.txt")!, URL(string: folder.absoluteString + "a%00b")!,
      URL(string: "relative")!,
    ]
    for place in places {
      guard case .unreadable(let error) = stamp.compare(with: place) else {
        XCTFail("\(place): \(stamp.compare(with: place))")
        continue
      }
      XCTAssertEqual(error.code, .notAFile, "\(place)")
      XCTAssertTrue(error.description.contains("Choose a file."), error.description)
      XCTAssertThrowsError(try FileStamp(of: place)) { XCTAssertEqual($0 as? DraftError, error) }
    }
  }

  func testAFileThatMustNotBeReadSaysSo() throws {
    let stamp = try FileStamp(of: write("abc"))
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: url().path)
    let user = OrdinaryUser()
    defer { withExtendedLifetime(user) {} }
    XCTAssertThrowsError(try FileStamp(of: url())) {
      XCTAssertEqual(($0 as? DraftError)?.code, .permissionDenied)
    }
    guard case .unreadable(let error) = stamp.compare(with: url()) else {
      return XCTFail("\(stamp.compare(with: url()))")
    }
    XCTAssertEqual(error.code, .permissionDenied)
  }

  /// Files of the system have content and say that they have none, as one that grows meanwhile.
  func testAFileThatIsWrittenWhileItIsReadIsNotWaitedFor() throws {
    let place = URL(filePath: "/proc/self/status")
    try XCTSkipIf(
      !FileManager.default.fileExists(atPath: place.path), "Only Linux has such a file.")
    XCTAssertThrowsError(try FileStamp(of: place)) {
      XCTAssertEqual(($0 as? DraftError)?.code, .changing)
    }
  }

  func testAStampComesBackAsItWasAndIsSmall() throws {
    let stamp = try FileStamp(of: write("abc"), now: clock(10))
    let data = try JSONEncoder().encode(stamp)
    XCTAssertLessThan(data.count, 300)
    let decoded = try JSONDecoder().decode(FileStamp.self, from: data)
    XCTAssertEqual(decoded, stamp)
    XCTAssertEqual(decoded.compare(with: url()), .same)
  }

  func testAStampOfALaterVersionIsUnknown() throws {
    let stamp = try FileStamp(of: write("abc"))
    let whole = try XCTUnwrap(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(stamp)) as? [String: Any])
    for key in whole.keys {
      var values = whole
      values[key] = key == "content" ? ["tree": "x"] : nil
      let later = try JSONDecoder().decode(
        FileStamp.self, from: JSONSerialization.data(withJSONObject: values))
      XCTAssertEqual(later.compare(with: url()), .unknown, key)
      XCTAssertEqual(
        try JSONDecoder().decode(FileStamp.self, from: JSONEncoder().encode(later))
          .compare(with: url()), .unknown, key)
    }
    XCTAssertEqual(whole.keys.count, 6)
  }

  func testEveryByteOfALargeFileCounts() throws {
    // Two parts and a rest.
    var bytes = Data((0..<(2 << 18) + 100).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try bytes.write(to: url())
    let stamp = try FileStamp(of: url())
    XCTAssertEqual(stamp.content, try ContentStamp(hashing: bytes))
    for place in [0, (1 << 18) - 1, 1 << 18, (2 << 18) - 1, 2 << 18, bytes.count - 1] {
      bytes[place] ^= 1
      try bytes.write(to: url())
      guard case .changed = stamp.compare(with: url()) else { return XCTFail("\(place)") }
      bytes[place] ^= 1
    }
    for count in [1 << 18, (1 << 18) + 1, (2 << 18) - 1, 2 << 18] {
      try bytes.prefix(count).write(to: url())
      XCTAssertEqual(
        try FileStamp(of: url()).content, try ContentStamp(hashing: bytes.prefix(count)))
    }
  }
}
