import Mutants
import XCTest

/// Which mutants a source has, and which it has not.
final class MutantTests: XCTestCase {
  /// The changed lines of all mutants, with one space for a row of spaces.
  private func mutants(_ source: String) -> Set<String> {
    Set(
      Mutant.all(of: source, file: "a.swift").map { mutant in
        mutant.after.split { $0.isWhitespace }.joined(separator: " ")
      })
  }

  func testAComparisonTakesOrLosesItsBoundary() {
    XCTAssertEqual(mutants("let c = a < b"), ["let c = a <= b"])
    XCTAssertEqual(mutants("let c = a >= b"), ["let c = a > b"])
    XCTAssertEqual(mutants("let c = a != b"), ["let c = a == b"])
  }

  func testOperatorsAreChangedWithTheOperandsThatTheyHave() {
    XCTAssertEqual(
      mutants("let e = a + b * c ?? d"),
      ["let e = a - b * c ?? d", "let e = a + b / c ?? d", "let e = d"])
  }

  func testASumOfTextStays() {
    XCTAssertEqual(mutants(#"let c = a + "b" + c"#), [])
  }

  func testConditionsAreNegated() {
    XCTAssertEqual(mutants("if a, let b { }"), ["if !(a), let b { }"])
    XCTAssertEqual(mutants("let d = a ? b : c"), ["let d = !(a) ? b : c"])
    XCTAssertEqual(mutants("for a in b where a.c { }"), ["for a in b where !(a.c) { }"])
  }

  func testAConditionThatIsAnEqualityIsChangedOnce() {
    XCTAssertEqual(Mutant.all(of: "if a == b { }", file: "a.swift").map(\.after), ["if a != b { }"])
    XCTAssertEqual(Mutant.all(of: "while true { }", file: "a.swift").count, 1)
  }

  func testLiteralsAreChanged() {
    XCTAssertEqual(mutants("let a = true"), ["let a = false"])
    XCTAssertEqual(mutants("let a = 1_000"), ["let a = 1001"])
    XCTAssertEqual(mutants("let a = 0x1F"), ["let a = 32"])
    XCTAssertEqual(mutants(#"let a = "1""#), [])
  }

  func testCallsAndAssignmentsAreLeftOutAndCallsSwapped() {
    XCTAssertEqual(
      mutants("init() {\na()\ntry await b.c()\nd[e] = f\n}"),
      ["", "try await b.c(); a()"])
    XCTAssertEqual(mutants("func a() -> B {\nc = d\nreturn c\n}"), [""])
  }

  func testACallWhoseValueIsUsedStays() {
    XCTAssertEqual(mutants("func a() -> B { c() }"), [])
    XCTAssertEqual(mutants("var a: B { c() }"), [])
    XCTAssertEqual(mutants("let a = b.map { c($0) }"), [])
    XCTAssertEqual(mutants("let a = if let b { c(b) } else { d() }"), [])
    XCTAssertEqual(mutants("func a() -> B { switch b { case .c: d() } }"), [])
    XCTAssertEqual(
      mutants("func a() -> B {\nb.forEach { c($0) }\nreturn d }"), ["b.forEach { }", ""])
  }

  func testAFunctionIsLeftAtItsStart() {
    XCTAssertEqual(
      mutants("func a() {\nlet b = c\nd(b)\n}"), ["return; let b = c", ""])
    XCTAssertEqual(mutants("func a() -> B? {\nc\n}"), ["return nil; return c"])
    XCTAssertEqual(
      mutants("func a() -> B? {\nif let c { return c }\nreturn d\n}"),
      ["return nil; if let c { return c }"])
    XCTAssertEqual(mutants("var a: B? {\nc\n}"), ["return nil; return c"])
    XCTAssertEqual(mutants("func a() -> B {\nc\n}"), [])
  }

  func testWhereItWouldBeTheSameThereIsNoLeavingAtTheStart() {
    XCTAssertEqual(mutants("func a() {\nb()\n}"), [""])
    XCTAssertEqual(mutants("func a() -> B? {\nnil\n}"), [])
  }

  func testWhatDoesNotRunStays() {
    XCTAssertEqual(mutants("@available(macOS 1, *) @a(true) struct B { }"), [])
    XCTAssertEqual(mutants("enum A: Int { case b = 1 }"), [])
    XCTAssertEqual(mutants("switch a { case 1: break; default: break }"), [])
    XCTAssertEqual(mutants("#if A && B\nlet c = 1\n#endif"), ["let c = 2"])
    XCTAssertEqual(mutants("let a: B<4> = c"), [])
    XCTAssertEqual(mutants("@inlinable func a() -> Bool { 1 < 2 }"), [])
  }

  func testCodeForAnotherSystemStays() {
    XCTAssertEqual(
      mutants("#if canImport(Android)\nlet c = 1\n#elseif canImport(A)\nlet d = 1\n#endif"),
      ["let d = 2"])
    XCTAssertEqual(mutants("#if !canImport(Android)\nlet c = 1\n#endif"), ["let c = 2"])
  }

  func testAPreconditionHasAConditionAndNoMore() {
    XCTAssertEqual(
      mutants(#"precondition(a < b, "\(1)")"#), [#"precondition(a <= b, "\(1)")"#])
  }

  func testAMutantSaysWhereItIs() {
    let mutants = Mutant.all(of: "let a = b\n  let c =\n    d < e\n", file: "f.swift")
    XCTAssertEqual(mutants.map(\.line), [3])
    XCTAssertEqual(mutants.map(\.file), ["f.swift"])
    XCTAssertEqual(mutants.map(\.before), ["    d < e"])
    XCTAssertEqual(mutants.map(\.after), ["    d <= e"])
  }

  func testTheOrderIsThatOfTheSeedAndStaysWhenOneGoes() {
    let mutants = Mutant.all(
      of: (1...50).map { "let a\($0) = \($0)" }.joined(separator: "\n"), file: "a.swift")
    let shuffled = mutants.shuffled(seed: 1)
    XCTAssertEqual(Set(shuffled), Set(mutants))
    XCTAssertEqual(shuffled, Array(mutants.reversed()).shuffled(seed: 1))
    XCTAssertNotEqual(shuffled, mutants.shuffled(seed: 2))
    XCTAssertEqual(Array(mutants.dropFirst()).shuffled(seed: 1), shuffled.filter { $0.line > 1 })
  }
}
