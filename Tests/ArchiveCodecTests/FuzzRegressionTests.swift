import FuzzTargets
import Foundation
import TestSupport
import XCTest

/// What fuzzing found once, and what it starts from, without libFuzzer.
final class FuzzRegressionTests: XCTestCase {
  private let regressions = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../../Fuzz/Regressions").standardized

  func testNothingThatWasFoundComesBack() throws {
    var count = 0
    for target in FuzzTarget.allCases {
      let directory = regressions.appending(path: target.rawValue)
      guard FileManager.default.fileExists(atPath: directory.path) else { continue }
      for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
        let input = Array(try Data(contentsOf: directory.appending(path: file)))
        XCTAssertNoThrow(try target.run(input), "\(target) \(file)")
        count += 1
      }
    }
    XCTAssertGreaterThan(count, 0)
  }

  func testSeedsAndTheirMutationsBreakNoPromise() throws {
    var generator = SeededGenerator()
    for target in FuzzTarget.allCases {
      for seed in try target.seeds {
        XCTAssertNoThrow(try target.run(seed), "\(target)")
        for _ in 0..<20 {
          var input = seed
          for _ in 0..<Int.random(in: 1...3, using: &generator) where !input.isEmpty {
            input[Int.random(in: input.indices, using: &generator)] = .random(
              in: 0...255, using: &generator)
          }
          XCTAssertNoThrow(try target.run(input), "\(target) seed \(generator.seed): \(input)")
        }
      }
    }
  }
}
