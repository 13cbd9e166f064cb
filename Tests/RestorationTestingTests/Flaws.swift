import Dispatch
import RestorationTesting
import Synchronization
import XCTest

/// Each flaw of a double fails the check that is there for it, and each check has a flaw.
///
/// - Parameters:
///   - flaws: All ways in which the double breaks a promise; each may break others, too.
///   - checks: All checks.
///   - covers: Whether there must be a flaw for a check.
///   - check: The name of the check that a flaw is there for.
///   - line: Where it is asked.
///   - make: Makes a double.
func assertFlawsAreSeen<Subject, Flaw>(
  _ flaws: [Flaw], by checks: [ConformanceCheck<Subject>],
  covering covers: (String) -> Bool = { _ in true }, check: (Flaw) -> String,
  line: UInt = #line, _ make: (Flaw) -> Subject
) {
  for flaw in flaws {
    let failures = checks.failures {
      let subject = make(flaw)
      return { subject }
    }
    let names = failures.map(\.subject)
    XCTAssertTrue(names.contains(check(flaw)), "\(flaw) fails \(names)", line: line)
    XCTAssertTrue(failures.allSatisfy { $0.code == .brokenPromise }, "\(flaw)", line: line)
    XCTAssertLessThan(failures.count, checks.count, "\(flaw)", line: line)
  }
  let names = checks.map(\.name)
  XCTAssertEqual(Set(names).count, names.count, "Their names differ.", line: line)
  XCTAssertEqual(Set(names.filter(covers)), Set(flaws.map(check).filter(covers)), line: line)
}

/// Where one waits for another one, for a moment, so that both do the same at once.
final class Meeting: Sendable {
  private let count = Mutex(0)
  private let arrival = DispatchSemaphore(value: 0)

  func meet() {
    let isFirst = count.withLock { count in
      count += 1
      return !count.isMultiple(of: 2)
    }
    if isFirst {
      _ = arrival.wait(timeout: .now() + .milliseconds(100))
    } else {
      arrival.signal()
    }
  }
}
