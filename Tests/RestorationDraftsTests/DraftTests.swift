import Foundation
import RestorationDrafts
import TestSupport
import XCTest

final class DraftTests: XCTestCase {
  fileprivate var directory = URL(filePath: "/")

  override func setUpWithError() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "drafts-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws {
    try FileManager.default.removeItem(at: directory)
  }

  /// What somebody does to the file of a draft.
  private enum Change: CaseIterable {
    case nothing, sameAgain, other, removal, directory
  }

  private func apply(_ change: Change, to file: URL) throws {
    switch change {
    case .nothing: break
    case .sameAgain: try Data("theirs".utf8).write(to: file)
    case .other: try Data("others".utf8).write(to: file)
    case .removal: try FileManager.default.removeItem(at: file)
    case .directory:
      try FileManager.default.removeItem(at: file)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    }
  }

  /// The state by name, since the text of an error is not of interest.
  private func name(_ state: DraftState) -> String {
    switch state {
    case .clean: "clean"
    case .conflict: "conflict"
    case .orphaned: "orphaned"
    case .unreadable(let error): "unreadable, \(error.code == .notAFile)"
    }
  }

  func testEveryKindOfDraftMeetsEveryChangeOfItsFile() throws {
    let stored = Data("theirs".utf8)
    let kinds: [(FileStamp) throws -> Draft<String>] = [
      { Draft("ours", of: $0) },
      { _ in Draft("ours", of: try ContentStamp(hashing: stored)) },
      { _ in Draft("ours", of: ContentStamp(version: "1")) },
      { _ in Draft("ours") },
      { _ in Draft("ours", from: "theirs") },
    ]
    let expected = [
      ["clean", "clean", "conflict", "orphaned", "unreadable, true"],
      ["clean", "clean", "conflict", "orphaned", "unreadable, true"],
      ["conflict", "conflict", "conflict", "orphaned", "unreadable, true"],
      ["conflict", "conflict", "conflict", "clean", "unreadable, true"],
      ["conflict", "conflict", "conflict", "orphaned", "unreadable, true"],
    ]
    for (kind, row) in zip(kinds, expected) {
      var found: [String] = []
      for change in Change.allCases {
        let file = directory.appending(path: UUID().uuidString)
        try stored.write(to: file)
        let draft = try kind(FileStamp(of: file))
        try apply(change, to: file)
        found.append(name(draft.state(of: file)))
        let again = try JSONDecoder().decode(
          Draft<String>.self, from: JSONEncoder().encode(draft))
        XCTAssertEqual(again, draft)
        XCTAssertEqual(name(again.state(of: file)), found.last)
      }
      XCTAssertEqual(found, row)
    }
  }

  func testStampsOfWhatIsThereDecide() throws {
    let (one, two) = (ContentStamp(version: "1"), ContentStamp(version: "2"))
    let hash = try ContentStamp(hashing: Data("1".utf8))
    let draft = Draft("ours", of: one)
    XCTAssertEqual(
      [one, two, hash, nil].map(draft.state(at:)), [.clean, .conflict, .conflict, .orphaned])
    XCTAssertEqual([one, nil].map(Draft("ours").state(at:)), [.conflict, .clean])
    XCTAssertEqual(
      [one, nil].map(Draft("ours", from: "base").state(at:)), [.conflict, .orphaned])
  }

  func testContentsDecideAsAWhole() {
    let contents = ["base", "ours", "others", nil]
    XCTAssertEqual(
      contents.map(Draft("ours", from: "base").state(given:)),
      [.clean, .clean, .conflict, .orphaned])
    XCTAssertEqual(
      contents.map(Draft("ours").state(given:)), [.conflict, .clean, .conflict, .clean])
    XCTAssertEqual(
      contents.map(Draft("ours", of: ContentStamp(version: "1")).state(given:)),
      [.conflict, .clean, .conflict, .orphaned])
  }

  func testABaseThatIsTooLargeIsNotStored() {
    let (small, large) = (String(repeating: "a", count: 900), String(repeating: "a", count: 1100))
    let stamp = ContentStamp(version: "1")
    XCTAssertEqual(Draft("", of: stamp, base: small, upTo: 1024).base, small)
    XCTAssertNil(Draft("", of: stamp, base: large, upTo: 1024).base)
    XCTAssertNil(Draft(Data(), from: Data(count: Draft<Data>.largestBase + 1)).base)
    XCTAssertEqual(Draft(Data(), from: Data(count: 1 << 19)).base, Data(count: 1 << 19))
    XCTAssertEqual(
      Draft("ours", from: String(repeating: "a", count: 2 << 20)).state(given: "theirs"), .conflict)
  }

  /// A value that cannot be encoded.
  private struct Unencodable: Codable, Hashable {
    var isBroken: Bool
    func encode(to encoder: any Encoder) throws {
      if isBroken { throw CocoaError(.coderInvalidValue) }
      try isBroken.encode(to: encoder)
    }
    init(isBroken: Bool) { self.isBroken = isBroken }
    init(from decoder: any Decoder) throws {
      isBroken = try Bool(from: decoder)
      if isBroken { throw CocoaError(.coderInvalidValue) }
    }
  }

  func testABaseThatCannotBeStoredOrReadDoesNotTakeTheContentWithIt() throws {
    let fine = Unencodable(isBroken: false)
    let draft = Draft(fine, from: Unencodable(isBroken: true))
    XCTAssertNil(draft.base)
    XCTAssertNoThrow(try JSONEncoder().encode(draft))
    let stored = Data(#"{"content": false, "base": true}"#.utf8)
    let read = try JSONDecoder().decode(Draft<Unencodable>.self, from: stored)
    XCTAssertEqual(read.content, fine)
    XCTAssertNil(read.base)
    XCTAssertThrowsError(
      try JSONDecoder().decode(
        Draft<Unencodable>.self, from: Data(#"{"content": true, "isNew": true}"#.utf8)))
  }

  func testWhatALaterVersionStoredIsInConflictAndKeepsItsContent() throws {
    let file = directory.appending(path: "file")
    try Data("theirs".utf8).write(to: file)
    for stored in [
      #"{"content": "ours"}"#, #"{"content": "ours", "origin": {"cloud": 1}}"#,
      #"{"content": "ours", "file": {"new": 1}}"#, #"{"content": "ours", "stamp": {"new": 1}}"#,
    ] {
      let draft = try JSONDecoder().decode(Draft<String>.self, from: Data(stored.utf8))
      XCTAssertEqual(draft.content, "ours")
      XCTAssertEqual(draft.state(of: file), .conflict, stored)
    }
  }

  /// A FIFO in the place of the file would hold whoever reads it.
  func testStoringADraftAsksNobodyForItsFile() throws {
    let file = directory.appending(path: "file")
    try Data("theirs".utf8).write(to: file)
    var draft = Draft("ours", of: try FileStamp(of: file))
    try FileManager.default.removeItem(at: file)
    XCTAssertEqual(mkfifo(file.path, 0o600), 0)
    draft.content += " and more"
    let again = try JSONDecoder().decode(
      Draft<String>.self, from: JSONEncoder().encode(draft))
    XCTAssertEqual(again, draft)
    XCTAssertEqual(name(again.state(of: file)), "unreadable, true")
  }

  func testADraftWhoseStampCannotBeReadKeepsItsContent() throws {
    for text in [
      #"{"content":"text","file":{}}"#, #"{"content":"text","file":7}"#,
      #"{"content":"text","stamp":{"kind":"later"}}"#, #"{"content":"text","isNew":"yes"}"#,
    ] {
      do {
        let draft = try JSONDecoder().decode(Draft<String>.self, from: Data(text.utf8))
        XCTAssertEqual(draft.content, "text")
        XCTAssertEqual(draft.state(given: "other"), .conflict)
      } catch {
        XCTFail("\(text): the content is lost: \("\(error)".prefix(120))")
      }
    }
  }

  func testADraftOfAnOptionalKeepsItsBase() throws {
    let draft = Draft<String?>("mine", from: nil)
    XCTAssertEqual(draft.state(given: .some(nil)), .clean)
    let back = try JSONDecoder().decode(
      Draft<String?>.self, from: try JSONEncoder().encode(draft))
    XCTAssertEqual(back.state(given: .some(nil)), .clean)
  }
}

// MARK: - Files

extension DraftTests {
  private func file(_ text: String = "theirs") throws -> URL {
    let url = directory.appending(path: UUID().uuidString)
    try Data(text.utf8).write(to: url)
    return url
  }

  private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

  func testADraftThatWasReadHasNoChangesUntilSomethingIsChanged() throws {
    let url = try file()
    var draft = try Draft<String>(reading: url)
    XCTAssertEqual([draft.content, draft.base], ["theirs", "theirs"])
    XCTAssertFalse(draft.hasChanges)
    draft.content = "ours"
    XCTAssertTrue(draft.hasChanges)
    XCTAssertTrue(Draft("").hasChanges)
    XCTAssertEqual(try Draft<Data>(reading: url).content, Data("theirs".utf8))
  }

  /// A file is read in parts of 256 KiB.
  func testADraftHasAllBytesOfItsFileAndTheirStamp() throws {
    for count in [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 700_000] {
      let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
      let url = directory.appending(path: "\(count)")
      try bytes.write(to: url)
      let draft = try Draft<Data>(reading: url)
      XCTAssertEqual(draft.content, bytes)
      XCTAssertEqual(draft.state(at: try ContentStamp(hashing: bytes)), .clean)
    }
  }

  /// Saves as an app does.
  ///
  /// - Returns: The file if nothing was written, since the user has to choose.
  private func save(_ draft: inout Draft<String>, to url: URL) throws -> Draft<String>? {
    if let theirs = try draft.refresh(from: url) { return theirs }
    let bytes = draft.content.fileBytes()
    try bytes.write(to: url, options: .atomic)
    try draft.markSaved(bytes, at: url)
    return nil
  }

  func testASavedDraftHasNoChangesAndIsThatOfItsFile() throws {
    let url = try file()
    var draft = try Draft<String>(reading: url)
    for text in ["ours", "ours and more", ""] {
      draft.content = text
      XCTAssertNil(try save(&draft, to: url))
      XCTAssertEqual(try self.text(url), text)
      XCTAssertFalse(draft.hasChanges)
      XCTAssertEqual(draft.state(of: url), .clean)
    }
  }

  func testASaveOverWhatSomebodyElseHasWrittenAsksAndWritesNothing() throws {
    for choice in ["ours", "others", "ours others"] {
      let url = try file()
      var draft = try Draft<String>(reading: url)
      draft.content = "ours"
      try Data("others".utf8).write(to: url)
      let theirs = try XCTUnwrap(try save(&draft, to: url))
      XCTAssertEqual(try text(url), "others")
      XCTAssertEqual([theirs.content, draft.content, draft.base], ["others", "ours", "theirs"])
      draft.choose(choice, over: theirs)
      XCTAssertEqual(draft.hasChanges, choice != "others")
      // It is changed once more, so what the user has seen is gone.
      try Data("others again".utf8).write(to: url)
      let again = try save(&draft, to: url)
      if choice == "others" {
        XCTAssertNil(again)
        XCTAssertEqual(draft.content, "others again")
      } else {
        draft.choose(choice, over: try XCTUnwrap(again))
        XCTAssertNil(try save(&draft, to: url))
        XCTAssertEqual(try text(url), choice)
      }
    }
  }

  func testWhatIsNoQuestionIsTakenOver() throws {
    let url = try file()
    var draft = try Draft<String>(reading: url)
    try Data("others".utf8).write(to: url)
    XCTAssertNil(try draft.refresh(from: url))
    XCTAssertEqual(draft.content, "others", "Nothing was changed here.")
    // The app ended between the save and its state.
    draft.content = "ours"
    try Data("ours".utf8).write(to: url)
    XCTAssertNil(try draft.refresh(from: url))
    draft.content = "ours and more"
    XCTAssertNil(try save(&draft, to: url))
    XCTAssertEqual(try text(url), "ours and more")
  }

  func testANewDraftMakesItsFileAndOneThatIsGoneIsMadeAgain() throws {
    let url = directory.appending(path: "new")
    var draft = Draft("ours")
    XCTAssertNil(try save(&draft, to: url))
    XCTAssertEqual(try text(url), "ours")
    try FileManager.default.removeItem(at: url)
    draft.content += "!"
    XCTAssertNil(try save(&draft, to: url))
    XCTAssertEqual(try text(url), "ours!")
    var other = Draft("others")
    XCTAssertEqual(try save(&other, to: url)?.content, "ours!")
    XCTAssertEqual(try text(url), "ours!")
  }

  func testAFileOfAnotherKindChangesNoDraft() throws {
    let folder = directory.appending(path: "folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let bytes = directory.appending(path: "bytes")
    try Data([0xFF, 0xFE]).write(to: bytes)
    for (url, code) in [(folder, DraftError.Code.notAFile), (bytes, .otherContent)] {
      var draft = Draft("ours")
      XCTAssertThrowsError(try draft.refresh(from: url)) {
        XCTAssertEqual(($0 as? DraftError)?.code, code, "\($0)")
      }
      XCTAssertEqual(draft, Draft("ours"))
    }
    XCTAssertThrowsError(try Draft<String>(reading: bytes)) {
      XCTAssertEqual(($0 as? DraftError)?.code, .otherContent)
    }
    XCTAssertThrowsError(try Draft<String>(reading: directory.appending(path: "missing"))) {
      XCTAssertEqual(($0 as? DraftError)?.code, .gone)
    }
  }

  func testAFileWithOtherBytesThanThoseThatWereWrittenIsAConflict() throws {
    let url = try file()
    var draft = try Draft<String>(reading: url)
    draft.content = "ours"
    let bytes = draft.content.fileBytes()
    try bytes.write(to: url)
    // Somebody else has been faster than the stamp.
    try Data("others".utf8).write(to: url)
    try draft.markSaved(bytes, at: url)
    XCTAssertEqual([draft.content, draft.base], ["ours", "ours"])
    XCTAssertEqual(draft.state(of: url), .conflict)
    draft.content += "!"
    XCTAssertEqual(try draft.refresh(from: url)?.content, "others")
    try FileManager.default.removeItem(at: url)
    try draft.markSaved(bytes, at: url)
    XCTAssertEqual(draft.state(of: url), .orphaned)
  }

  func testWhatIsTypedWhileTheBytesAreWrittenIsStillToBeSaved() throws {
    let url = try file()
    var draft = try Draft<String>(reading: url)
    draft.content = "ours"
    let bytes = draft.content.fileBytes()
    try bytes.write(to: url)
    draft.content += " and more"
    try draft.markSaved(bytes, at: url)
    XCTAssertEqual([draft.content, draft.base], ["ours and more", "ours"])
    XCTAssertTrue(draft.hasChanges)
    XCTAssertEqual(draft.state(of: url), .clean)
    let again = try JSONDecoder().decode(Draft<String>.self, from: JSONEncoder().encode(draft))
    XCTAssertEqual(again.state(of: url), .clean)
    XCTAssertTrue(again.hasChanges)
  }

  func testBytesOfAnotherKindAreSavedWithoutABase() throws {
    let url = directory.appending(path: "bytes")
    let bytes = Data([0xFF, 0xFE])
    try bytes.write(to: url)
    var draft = Draft("ours")
    try draft.markSaved(bytes, at: url)
    XCTAssertNil(draft.base)
    XCTAssertEqual(draft.content, "ours")
    XCTAssertEqual(draft.state(of: url), .clean)
  }

  /// All orders of up to four steps, each with each of the three answers.
  func testNothingIsLostInAnyOrderOfEditSaveKillAndOutsideChange() throws {
    enum Step: CaseIterable { case edit, save, kill, outside }
    enum Choice: CaseIterable { case mine, theirs, both }
    let sequences = (1...4).flatMap { count in
      (0..<count).reduce([[Step]]([[]])) { all, _ in
        all.flatMap { start in Step.allCases.map { start + [$0] } }
      }
    }
    XCTAssertEqual(sequences.count, 340)
    for choice in Choice.allCases {
      for steps in sequences {
        let url = try file("")
        var draft = try Draft<String>(reading: url)
        // What has to be in the draft or in the file, and what the user has not seen yet.
        var (typed, unseen, number) = (Set<String>(), Set<String>(), 0)
        for step in steps {
          number += 1
          switch step {
          case .edit:
            draft.content += "e\(number) "
            typed.insert("e\(number)")
          case .outside:
            try Data("o\(number) ".utf8).write(to: url)
            // Whoever writes the whole file gives up what was saved in it.
            typed.formIntersection(draft.hasChanges ? draft.content.words : [])
            unseen = ["o\(number)"]
          case .kill:
            draft = try JSONDecoder().decode(
              Draft<String>.self, from: JSONEncoder().encode(draft))
            if let theirs = try draft.refresh(from: url) {
              XCTAssertTrue(unseen.isSubset(of: theirs.content.words))
            }
          case .save:
            if let theirs = try save(&draft, to: url) {
              XCTAssertTrue(unseen.isSubset(of: theirs.content.words))
              unseen = []
              switch choice {
              case .mine: draft.choose(draft.content, over: theirs)
              case .theirs:
                draft.choose(theirs.content, over: theirs)
                typed = []
              case .both: draft.choose(draft.content + theirs.content, over: theirs)
              }
              XCTAssertNil(try save(&draft, to: url))
            }
          }
          let there = draft.content.words.union(try text(url).words)
          XCTAssertTrue(typed.isSubset(of: there), "\(choice) \(steps)")
          XCTAssertTrue(unseen.isSubset(of: try text(url).words), "\(choice) \(steps)")
          if draft.content.words.isSuperset(of: unseen) { unseen = [] }
        }
        try FileManager.default.removeItem(at: url)
      }
    }
  }
}

extension String {
  fileprivate var words: Set<String> { Set(split(separator: " ").map(String.init)) }
}
