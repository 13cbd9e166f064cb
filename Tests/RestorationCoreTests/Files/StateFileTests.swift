import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// Opens, saves and ends, launch after launch.
final class StateFileTests: FileTestCase {
  func testAStateThatIsClosedTwiceIsGoneOnFrom() throws {
    try launch(saving: [1: "a", 2: "b"])
    let file = file()
    try open(file).opened.mark?.endRestore()
    try file.close()
    try file.close()
    try save([1: "c"], to: file)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "c", 2: "b"])
  }

  func testWhatIsSavedIsRestoredByTheNextLaunch() throws {
    XCTAssertNil(try launch(saving: [1: "a"]))
    XCTAssertEqual(try launch(saving: [2: "b"])?.texts, [1: "a"])
    XCTAssertEqual(try launch()?.texts, [1: "a", 2: "b"])
    XCTAssertEqual(try reasons(), [])
  }

  func testALaunchThatNeitherRestoresNorSavesClaimsNothing() throws {
    let (first, second) = (file(), file())
    XCTAssertEqual(try first.history(), [])
    XCTAssertNil(first.claimed)
    try open(second)
    XCTAssertEqual(second.name, "main")
  }

  func testWhereNothingIsStoredNoKeyIsAskedForAndNothingIsWritten() throws {
    keys = MissingKey()
    let file = file()
    XCTAssertEqual(try open(file).opened.outcome, .noArchive)
    try file.close()
    XCTAssertEqual(try directory.names(), [])
  }

  func testASaveAppendsAndAnEmptyOneWritesNothingElse() throws {
    let file = file()
    try save([1: String(repeating: "a", count: 2000)], to: file)
    let before = try XCTUnwrap(bytes())
    try save([2: "b"], to: file)
    let after = try XCTUnwrap(bytes())
    XCTAssertTrue(after.starts(with: before))
    XCTAssertLessThan(after.count - before.count, 400)
  }

  func testAWriterSeesWhetherWhatItHasStoredIsStillThere() throws {
    let file = file()
    try save([1: "a"], to: file)
    let writer = try XCTUnwrap(try file.openWriter())
    XCTAssertTrue(writer.isStored)
    let stored = try XCTUnwrap(bytes())
    // The same bytes are another file now.
    directory.base.memory(named: "main").bytes = stored
    XCTAssertFalse(writer.isStored)
  }

  func testAStateInFilesLeavesItsFileAndItsLockAlone() throws {
    let files = try FilesOfTest()
    let file = file(in: FileStateDirectory(path: files.path))
    try open(file)
    try save([1: "a"], to: file)
    try file.close()
    XCTAssertEqual(try files.names(), ["main.rka"])
  }
}
