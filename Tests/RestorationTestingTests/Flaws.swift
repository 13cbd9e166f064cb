import Dispatch
import RestorationTesting
import Synchronization
import XCTest

import RestorationSharingTesting

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
  assertSeen(
    flaws.map { flaw in
      let failures = checks.failures {
        let subject = make(flaw)
        return { subject }
      }
      return ("\(flaw)", check(flaw), failures)
    }, of: checks.map(\.name), covering: covers, line: line)
}

/// The same for checks that wait, all flaws at once, and doubles that are opened several times.
func assertFlawsAreSeen<Subject: Sendable, Flaw: Sendable>(
  _ flaws: [Flaw], by checks: [AsyncConformanceCheck<Subject>], check: (Flaw) -> String,
  line: UInt = #line, _ makePlace: @escaping @Sendable (Flaw) -> () -> Subject
) async {
  let seen = await withTaskGroup(of: (Flaw, [RestorationTestFailure]).self) { group in
    for flaw in flaws {
      group.addTask { (flaw, await checks.failures { makePlace(flaw) }) }
    }
    return await group.reduce(into: []) { seen, one in
      seen.append(("\(one.0)", check(one.0), one.1))
    }
  }
  assertSeen(seen, of: checks.map(\.name), covering: { _ in true }, line: line)
}

private func assertSeen(
  _ flaws: [(name: String, check: String, failures: [RestorationTestFailure])],
  of names: [String], covering covers: (String) -> Bool, line: UInt
) {
  for flaw in flaws {
    let failed = flaw.failures.map(\.subject)
    XCTAssertTrue(failed.contains(flaw.check), "\(flaw.name) fails \(failed)", line: line)
    XCTAssertTrue(
      flaw.failures.allSatisfy { $0.code == .brokenPromise }, "\(flaw.name)", line: line)
    XCTAssertLessThan(failed.count, names.count, "\(flaw.name)", line: line)
  }
  XCTAssertEqual(Set(names).count, names.count, "Their names differ.", line: line)
  XCTAssertEqual(Set(names.filter(covers)), Set(flaws.map(\.check).filter(covers)), line: line)
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
