import Foundation
import Mutants
import XCTest

/// Which tests are run for mutants, with a program that stands for a bundle.
final class TestBundleTests: XCTestCase {
  private var folder: URL?

  override func tearDownWithError() throws {
    if let folder { try FileManager.default.removeItem(at: folder) }
  }

  /// A bundle that runs a line of a shell for each test, which has its name as `$1`.
  private func bundle(_ tests: [String], running line: String) throws -> TestBundle {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)")
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = folder.appending(path: "program")
    // What it runs is noted, and the mutants that it reaches, as a bundle does.
    let text = """
      #!/bin/sh
      if [ "$1" = --list-tests ]; then printf '%s\\n' \(tests.joined(separator: " ")); exit; fi
      echo "$1 $MUTANT" >>"\(folder.path)/calls"
      reach() { case $MUTANT in trace*) echo "$1" >>"${MUTANT#trace }" ;; esac; }
      has() { case $MUTANT in "$1 "*) true ;; *) false ;; esac; }
      \(line)
      """
    try Data(text.utf8).write(to: program)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: program.path)
    return try TestBundle(program, scratch: folder.appending(path: "run"))
  }

  private let tests = [
    "ATests.One/testA", "ATests.One/testB", "ATests.Two/testC", "BTests.B/testD",
  ]

  func testOnlyTheTestsOfTheModuleThatIsChangedAreRun() throws {
    let list = try bundle(tests, running: "true").tests()
    XCTAssertEqual(list.classes.map(\.name), ["ATests.One", "ATests.Two", "BTests.B"])
    XCTAssertEqual(list.classes.first?.tests, ["ATests.One/testA", "ATests.One/testB"])
    XCTAssertEqual(list.classes(ofModules: ["A"]).map(\.name), ["ATests.One", "ATests.Two"])
    XCTAssertEqual(list.classes(ofModules: ["B"]).map(\.name), ["BTests.B"])
    XCTAssertEqual(list.classes(ofModules: ["ATest"]), [])
  }

  func testTheTestsOfTheLibraryAreInSeveralTargets() {
    let list = TestList(
      "RestorationTreeTests.One/testA\nArchiveCodecTests.Two/testB\nRestorationSharingTests.Three/testC"
    )
    for module in ["RestorationKit", "RestorationSharing", "RestorationInspection"] {
      XCTAssertEqual(
        list.classes(ofModules: [module]).map(\.name),
        ["RestorationSharingTests.Three", "RestorationTreeTests.One"], module)
    }
  }

  func testATestThatFailsWithoutAMutantIsLeftOutAndNamedAndTheOthersAreTried() throws {
    let bundle = try bundle(
      tests,
      running: """
        case $1 in *One|*testB) echo "/a/One.swift:1: error: it has no home"; exit 1 ;; esac
        reach 7
        if has 7; then echo "/a/One.swift:2: error: noticed"; exit 1; fi
        """)
    let traces = try bundle.traces(of: try bundle.tests().classes)
    XCTAssertEqual(traces.leftOut, ["ATests.One/testB failed: it has no home"])
    XCTAssertEqual(
      Set(traces.traces.map(\.name)), ["ATests.One/testA", "ATests.Two", "BTests.B"])
    let verdict = try bundle.verdict(on: 7, traces.traces)
    XCTAssertTrue(verdict.isKilled)
    XCTAssertEqual("\(try bundle.verdict(on: 8, traces.traces))", "survived: no test reaches it")
  }

  func testIfNoTestPassesThatIsSaidWithWhatEachSays() throws {
    let bundle = try bundle(["ATests.One/testA"], running: "exit 3")
    XCTAssertThrowsError(try bundle.traces(of: try bundle.tests().classes)) { error in
      XCTAssertEqual(
        "\(error)",
        "No test passes without a mutant:\nATests.One/testA failed: exit status 3")
    }
  }

  func testOfASlowClassOnlyTheTestsThatReachAMutantAreRunForIt() throws {
    let bundle = try bundle(
      tests,
      running: """
        case $1 in
        ATests.One) reach 1; reach 2; sleep 1 ;;
        *testA) reach 1 ;;
        *testB) reach 2 ;;
        esac
        """)
    let classes = try bundle.tests().classes(ofModules: ["A"])
    let traces = try bundle.traces(of: classes, slowSeconds: 0.9)
    XCTAssertEqual(traces.leftOut, [])
    XCTAssertEqual(
      "\(try bundle.verdict(on: 2, traces.traces))",
      "survived: one class, or test of a slow one, reaches it")
    let folder = try XCTUnwrap(folder)
    let calls = try String(contentsOf: folder.appending(path: "calls"), encoding: .utf8)
    XCTAssertEqual(
      calls.split(separator: "\n").filter { !$0.contains("trace") }.map { $0.prefix { $0 != " " } },
      ["ATests.One/testB"])
  }
}
