import ArchiveCodec
import RestorationKit
import XCTest

/// Which of the archives of a state is restored, for all that can be found of it and of the
/// generation before it, with what the report says.
final class ArchiveChoiceTests: XCTestCase {
  private enum Found: CaseIterable {
    case good, crashing, damaged, otherKey, newerFormat, absent, failing

    var finding: ArchiveChoice.Finding {
      switch self {
      case .good: .readable
      case .crashing: .crashed
      case .absent: .missing
      case .damaged: .unreadable(ArchiveError(.damaged))
      case .otherKey: .unreadable(ArchiveError(.wrongKey))
      case .newerFormat: .unreadable(ArchiveError(.unsupportedVersion))
      case .failing: .unreadable(ArchiveError(.inputOutput))
      }
    }

    /// What the report of a restore says of it, if an older one is restored.
    func sentence(_ location: String) -> String? {
      switch self {
      case .good, .failing: nil
      case .crashing: "\(location) was set aside, since restoring it crashed."
      case .absent: "\(location) is missing, or was set aside before."
      case .damaged: "\(location) cannot be read (damaged)."
      case .otherKey: "\(location) cannot be read (wrongKey)."
      case .newerFormat: "\(location) cannot be read (unsupportedVersion)."
      }
    }
  }

  private enum Outcome: Equatable {
    case state, generation(passedOver: [String?]), nothing
    case fails(ArchiveError.Code)
  }

  private func outcome(_ state: Found, _ generation: Found) -> Outcome {
    var choice = ArchiveChoice()
    do throws(ArchiveError) {
      if try choice.take(state.finding, at: "STATE") { return .state }
      if try choice.take(generation.finding, at: "OLDER") {
        return .generation(passedOver: choice.passedOver.map(\.description))
      }
      try choice.endWithoutAny()
      return .nothing
    } catch {
      return .fails(error.code)
    }
  }

  private func code(_ found: Found) -> ArchiveError.Code? {
    if case .unreadable(let error) = found.finding { error.code } else { nil }
  }

  func testTheNewestThatCanBeReadIsRestored() {
    for state in Found.allCases {
      for generation in Found.allCases {
        let expected: Outcome =
          switch (state, generation) {
          case (.good, _): .state
          // It may be read next time, so no older one takes its place.
          case (.failing, _): .fails(.inputOutput)
          case (_, .good): .generation(passedOver: [state.sentence("STATE")])
          case (_, .failing): .fails(.inputOutput)
          // The report says that a state crashed, and where it is now.
          case (.crashing, _), (_, .crashing): .nothing
          case (.absent, .absent): .nothing
          // Of two that cannot be read the newer one counts.
          case (_, _): .fails(code(state) ?? code(generation) ?? .inputOutput)
          }
        XCTAssertEqual(outcome(state, generation), expected, "\(state), \(generation)")
      }
    }
  }

  func testEachThatIsPassedOverIsReportedInOrder() throws {
    for state in Found.allCases where state.sentence("STATE") != nil {
      for generation in Found.allCases where generation.sentence("OLDER") != nil {
        var choice = ArchiveChoice()
        XCTAssertFalse(try choice.take(state.finding, at: "STATE"))
        XCTAssertFalse(try choice.take(generation.finding, at: "OLDER"))
        XCTAssertTrue(try choice.take(.readable, at: "OLDEST"))
        XCTAssertEqual(
          choice.passedOver.map(\.description),
          [state.sentence("STATE"), generation.sentence("OLDER")])
      }
    }
  }
}
