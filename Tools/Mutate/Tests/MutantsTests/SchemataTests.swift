import Mutants
import XCTest

/// What is compiled, and whom an error of the compiler is about.
final class SchemataTests: XCTestCase {
  private func schemata(_ source: String, where isChosen: (Mutant) -> Bool = { _ in true })
    -> Schemata
  {
    let mutants = Mutant.all(of: source, file: "a.swift").filter(isChosen)
      .sorted { ($0.line, $0.after) < ($1.line, $1.after) }
    return Schemata(Dictionary(uniqueKeysWithValues: zip(0..., mutants)), in: source)
  }

  func testWithoutMutantsTheTextStays() {
    XCTAssertEqual(schemata("// ä\nlet a = b\n").text, "// ä\nlet a = b\n")
  }

  func testAnExpressionIsChosenWhenItRuns() {
    XCTAssertEqual(
      schemata("let c = a < b // why").text, "let c = (__mutant(0) ? (a <= b) : (a < b)) // why")
  }

  func testAMutantInAMutantIsInTheUnchangedHalf() {
    XCTAssertEqual(
      schemata("let c = a < 1").text,
      "let c = (__mutant(1) ? (a <= 1) : (a < (__mutant(0) ? (2) : (1))))")
  }

  func testTwoMutantsOfOneExpressionAreBothThere() {
    XCTAssertEqual(
      schemata("if a < b {}").text,
      "if (__mutant(0) ? (!(a < b)) : ((__mutant(1) ? (a <= b) : (a < b)))) {}")
  }

  func testStatementsAreLeftOutAndSwapped() {
    XCTAssertEqual(
      schemata("a()\nb()").text,
      """
      if __mutant(1) { b() }
      if !__mutant(0) { a() }
      if !__mutant(1) { if !__mutant(2) { b() } }
      """)
  }

  func testABodyThatIsOneExpressionGetsAReturn() {
    XCTAssertEqual(
      schemata("var a: B? { c }").text, "var a: B? { if __mutant(0) { return nil }\nreturn c }")
  }

  func testAnErrorIsAboutTheInnermostMutantThere() {
    let schemata = schemata("let c = a < 1")
    XCTAssertEqual(schemata.mutants(atLine: 1, column: 9), [1])
    let inner = "let c = (__mutant(1) ? (a <= 1) : (a < (".utf8.count
    XCTAssertEqual(schemata.mutants(atLine: 1, column: inner + 1), [0])
  }

  func testAnErrorBesideAllMutantsIsAboutTheNearest() {
    let schemata = schemata("let a = 1\nlet b = c\nlet d = e\nlet f = 2")
    XCTAssertEqual(schemata.mutants(atLine: 1, column: 1), [0])
    XCTAssertEqual(schemata.mutants(atLine: 2, column: 1), [0])
    XCTAssertEqual(schemata.mutants(atLine: 3, column: 1), [1])
    XCTAssertEqual(schemata.mutants(atLine: 9, column: 1), [])
  }
}
