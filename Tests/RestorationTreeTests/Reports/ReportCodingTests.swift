import Foundation
import RestorationKit
import XCTest

/// What reports are as JSON: tools of older and newer versions read each other's reports.
final class ReportCodingTests: XCTestCase {
  func testEveryNoteIsCodedUnderItsName() throws {
    try assertCoded([
      (ReportNote.encodeFailed("s"), #"{"encodeFailed":{"_0":"s"}}"#),
      (ReportNote.willEncodeFailed("s"), #"{"willEncodeFailed":{"_0":"s"}}"#),
      (ReportNote.rootWithoutIdentifier, #"{"rootWithoutIdentifier":{}}"#),
      (ReportNote.identifierTooLong(byteCount: 7), #"{"identifierTooLong":{"byteCount":7}}"#),
      (
        ReportNote.referenceWithoutIdentifier(key: "s", className: "t"),
        #"{"referenceWithoutIdentifier":{"className":"t","key":"s"}}"#
      ),
      (
        ReportNote.referenceToUnpreservedView(key: "s"),
        #"{"referenceToUnpreservedView":{"key":"s"}}"#
      ),
      (ReportNote.coderKept(key: "s"), #"{"coderKept":{"key":"s"}}"#),
      (
        ReportNote.coderKeptAfterSave(RestorationPath(["x", "y"]), key: "s"),
        #"{"coderKeptAfterSave":{"_0":{"identifiers":["x","y"]},"key":"s"}}"#
      ),
      (ReportNote.notRestoredBefore, #"{"notRestoredBefore":{}}"#),
      (ReportNote.otherKeeper(stateName: "s"), #"{"otherKeeper":{"stateName":"s"}}"#),
      (
        ReportNote.aboveGap(RestorationPath(["x", "y"])),
        #"{"aboveGap":{"_0":{"identifiers":["x","y"]}}}"#
      ),
      (
        ReportNote.restorationClassNotRegistered("s"),
        #"{"restorationClassNotRegistered":{"_0":"s"}}"#
      ),
      (ReportNote.notInvalidated, #"{"notInvalidated":{}}"#),
      (ReportNote.identifierShadowed, #"{"identifierShadowed":{}}"#),
      (ReportNote.valueUsedTooEarly(key: "s"), #"{"valueUsedTooEarly":{"key":"s"}}"#),
      (ReportNote.valueWithoutKey(declaredAt: "s"), #"{"valueWithoutKey":{"declaredAt":"s"}}"#),
      (ReportNote.valueOfAnotherScene(key: "s"), #"{"valueOfAnotherScene":{"key":"s"}}"#),
      (ReportNote.fieldsNotFound(className: "s"), #"{"fieldsNotFound":{"className":"s"}}"#),
      (ReportNote.fieldKeyTwice(key: "s"), #"{"fieldKeyTwice":{"key":"s"}}"#),
      (ReportNote.screenNotReached(className: "s"), #"{"screenNotReached":{"className":"s"}}"#),
      (ReportNote.rootsMadeAnew(["a", "b"]), #"{"rootsMadeAnew":{"_0":["a","b"]}}"#),
      (
        ReportNote.valueIsObject(key: "s", className: "t"),
        #"{"valueIsObject":{"className":"t","key":"s"}}"#
      ),
      (ReportNote.valueSetAfterEnd(key: "s"), #"{"valueSetAfterEnd":{"key":"s"}}"#),
      (
        ReportNote.secondInstance(stateName: "s", others: "t"),
        #"{"secondInstance":{"others":"t","stateName":"s"}}"#
      ),
      (ReportNote.tabNotSelected, #"{"tabNotSelected":{}}"#),
      (ReportNote.undeclaredActivityType("s"), #"{"undeclaredActivityType":{"_0":"s"}}"#),
      (ReportNote.invalidActivity("s"), #"{"invalidActivity":{"_0":"s"}}"#),
      (
        ReportNote.activityEncodingFailed("s", "t"),
        #"{"activityEncodingFailed":{"_0":"s","_1":"t"}}"#
      ),
      (
        ReportNote.userInfoEncodingFailed(key: "s", "t"),
        #"{"userInfoEncodingFailed":{"_1":"t","key":"s"}}"#
      ),
      (ReportNote.requiredKeysMissing(["a", "b"]), #"{"requiredKeysMissing":{"_0":["a","b"]}}"#),
      (
        ReportNote.largeActivity(byteCount: 7, limit: 8),
        #"{"largeActivity":{"byteCount":7,"limit":8}}"#
      ),
      (
        ReportNote.storageTypeMismatch(key: "s", "t"),
        #"{"storageTypeMismatch":{"_1":"t","key":"s"}}"#
      ),
      (
        ReportNote.storageEncodingFailed(key: "s", "t"),
        #"{"storageEncodingFailed":{"_1":"t","key":"s"}}"#
      ),
      (ReportNote.unreadable("s"), #"{"unreadable":{"_0":"s"}}"#),
      (ReportNote.hostDelegateGone, #"{"hostDelegateGone":{}}"#),
      (ReportNote.didDecodeFailed("s"), #"{"didDecodeFailed":{"_0":"s"}}"#),
      (ReportNote.applicationKept("s"), #"{"applicationKept":{"_0":"s"}}"#),
      (ReportNote.givenRootNotUsed, #"{"givenRootNotUsed":{}}"#),
      (ReportNote.notContained, #"{"notContained":{}}"#),
      (ReportNote.lastState, #"{"lastState":{}}"#),
      (ReportNote.unreadKeys(["a", "b"]), #"{"unreadKeys":{"_0":["a","b"]}}"#),
      (ReportNote.unreadableValues(["a", "b"]), #"{"unreadableValues":{"_0":["a","b"]}}"#),
      (ReportNote.fieldReplaced(key: "s", "t"), #"{"fieldReplaced":{"_1":"t","key":"s"}}"#),
      (ReportNote.missingFields(["a", "b"]), #"{"missingFields":{"_0":["a","b"]}}"#),
      (ReportNote.detached, #"{"detached":{}}"#),
      (
        ReportNote.keptBecause(.classMismatch(by: .existing, found: "s")),
        #"{"keptBecause":{"_0":{"classMismatch":{"by":"existing","found":"s"}}}}"#
      ),
      (ReportNote.unusedInheritedHooks, #"{"unusedInheritedHooks":{}}"#),
      (ReportNote.migrated(from: 7), #"{"migrated":{"from":7}}"#),
      (ReportNote.kept, #"{"kept":{}}"#),
      (ReportNote.keptBeside(version: 7, since: date), #"{"keptBeside":{"since":5,"version":7}}"#),
      (ReportNote.keptBeside(version: 7, since: nil), #"{"keptBeside":{"version":7}}"#),
      (
        ReportNote.keptStateDropped(since: date, byteCount: 7),
        #"{"keptStateDropped":{"byteCount":7,"since":5}}"#
      ),
      (ReportNote.expiredValues(["a", "b"]), #"{"expiredValues":{"_0":["a","b"]}}"#),
      (ReportNote.forgottenSecrets(["a", "b"]), #"{"forgottenSecrets":{"_0":["a","b"]}}"#),
    ])
  }

  func testEveryOutcomeOfARestoredNodeIsCodedUnderItsName() throws {
    try assertCoded([
      (RestorationReport.NodeOutcome.restored(by: .existing), #"{"restored":{"by":"existing"}}"#),
      (
        RestorationReport.NodeOutcome.restoredWithoutState(by: .existing),
        #"{"restoredWithoutState":{"by":"existing"}}"#
      ),
      (
        RestorationReport.NodeOutcome.decodeFailed(by: .existing, "s"),
        #"{"decodeFailed":{"_1":"s","by":"existing"}}"#
      ),
      (
        RestorationReport.NodeOutcome.newerVersion(by: .existing, stored: 7, known: 8),
        #"{"newerVersion":{"by":"existing","known":8,"stored":7}}"#
      ),
      (
        RestorationReport.NodeOutcome.newerVersion(by: nil, stored: 7, known: 8),
        #"{"newerVersion":{"known":8,"stored":7}}"#
      ),
      (
        RestorationReport.NodeOutcome.migrationFailed(by: .existing, from: 7, "s"),
        #"{"migrationFailed":{"_2":"s","by":"existing","from":7}}"#
      ),
      (
        RestorationReport.NodeOutcome.migrationFailed(by: nil, from: 7, "s"),
        #"{"migrationFailed":{"_2":"s","from":7}}"#
      ),
      (
        RestorationReport.NodeOutcome.classMismatch(by: .existing, found: "s"),
        #"{"classMismatch":{"by":"existing","found":"s"}}"#
      ),
      (RestorationReport.NodeOutcome.vetoed, #"{"vetoed":{}}"#),
      (
        RestorationReport.NodeOutcome.factoryFailed(.existing, "s"),
        #"{"factoryFailed":{"_0":"existing","_1":"s"}}"#
      ),
      (
        RestorationReport.NodeOutcome.unknownRestorationClass("s"),
        #"{"unknownRestorationClass":{"_0":"s"}}"#
      ),
      (
        RestorationReport.NodeOutcome.notARestorationClass("s"),
        #"{"notARestorationClass":{"_0":"s"}}"#
      ),
      (RestorationReport.NodeOutcome.notFound, #"{"notFound":{}}"#),
      (
        RestorationReport.NodeOutcome.notInStoryboard("s", identifier: "t"),
        #"{"notInStoryboard":{"_0":"s","identifier":"t"}}"#
      ),
      (RestorationReport.NodeOutcome.notRegistered, #"{"notRegistered":{}}"#),
      (RestorationReport.NodeOutcome.viewNotFound, #"{"viewNotFound":{}}"#),
      (RestorationReport.NodeOutcome.stackCut, #"{"stackCut":{}}"#),
      (RestorationReport.NodeOutcome.tabNotFound, #"{"tabNotFound":{}}"#),
      (
        RestorationReport.NodeOutcome.providedTwice(RestorationPath(["x", "y"])),
        #"{"providedTwice":{"_0":{"identifiers":["x","y"]}}}"#
      ),
      (
        RestorationReport.NodeOutcome.parentMissing(RestorationPath(["x", "y"])),
        #"{"parentMissing":{"_0":{"identifiers":["x","y"]}}}"#
      ),
      (RestorationReport.NodeOutcome.unreadable("s"), #"{"unreadable":{"_0":"s"}}"#),
      (RestorationReport.NodeOutcome.skipped, #"{"skipped":{}}"#),
      (RestorationReport.NodeOutcome.laterStateRestored, #"{"laterStateRestored":{}}"#),
      (RestorationReport.NodeOutcome.kept(by: nil, "away"), #"{"kept":{"_1":"away"}}"#),
      (
        RestorationReport.NodeOutcome.kept(by: .existing, "away"),
        #"{"kept":{"_1":"away","by":"existing"}}"#
      ),
    ])
  }

  func testEveryOutcomeOfARestoreIsCodedUnderItsName() throws {
    try assertCoded([
      (RestorationReport.Outcome.restored, #"{"restored":{}}"#),
      (RestorationReport.Outcome.noArchive, #"{"noArchive":{}}"#),
      (RestorationReport.Outcome.nothingKept, #"{"nothingKept":{}}"#),
      (RestorationReport.Outcome.declined, #"{"declined":{}}"#),
      (RestorationReport.Outcome.delegateGone, #"{"delegateGone":{}}"#),
      (RestorationReport.Outcome.locked, #"{"locked":{}}"#),
      (RestorationReport.Outcome.crashed(setAsideAt: "s"), #"{"crashed":{"setAsideAt":"s"}}"#),
      (RestorationReport.Outcome.crashed(setAsideAt: nil), #"{"crashed":{}}"#),
      (RestorationReport.Outcome.inUse(by: "s"), #"{"inUse":{"by":"s"}}"#),
      (RestorationReport.Outcome.inUse(by: nil), #"{"inUse":{}}"#),
    ])
  }

  func testEveryOutcomeOfASavedNodeIsCodedUnderItsName() throws {
    try assertCoded([
      (PreservationReport.NodeOutcome.saved, #"{"saved":{}}"#),
      (PreservationReport.NodeOutcome.savedWithoutState, #"{"savedWithoutState":{}}"#),
      (PreservationReport.NodeOutcome.keptAsStored, #"{"keptAsStored":{}}"#),
      (
        PreservationReport.NodeOutcome.expired(since: date, byteCount: 7),
        #"{"expired":{"byteCount":7,"since":5}}"#
      ),
      (
        PreservationReport.NodeOutcome.crowdedOut(since: date, byteCount: 7),
        #"{"crowdedOut":{"byteCount":7,"since":5}}"#
      ),
      (PreservationReport.NodeOutcome.replaced, #"{"replaced":{}}"#),
      (PreservationReport.NodeOutcome.savedWithLastState, #"{"savedWithLastState":{}}"#),
      (PreservationReport.NodeOutcome.noIdentifier, #"{"noIdentifier":{}}"#),
      (
        PreservationReport.NodeOutcome.excluded(by: RestorationPath(["x", "y"])),
        #"{"excluded":{"by":{"identifiers":["x","y"]}}}"#
      ),
      (PreservationReport.NodeOutcome.duplicate, #"{"duplicate":{}}"#),
      (PreservationReport.NodeOutcome.containedTwice, #"{"containedTwice":{}}"#),
    ])
  }

  func testEveryOutcomeOfASaveIsCodedUnderItsName() throws {
    try assertCoded([
      (PreservationReport.Outcome.saved, #"{"saved":{}}"#),
      (PreservationReport.Outcome.delegateGone, #"{"delegateGone":{}}"#),
      (PreservationReport.Outcome.declined, #"{"declined":{}}"#),
      (PreservationReport.Outcome.disconnected, #"{"disconnected":{}}"#),
      (PreservationReport.Outcome.locked, #"{"locked":{}}"#),
      (PreservationReport.Outcome.inUse(by: "s"), #"{"inUse":{"by":"s"}}"#),
      (PreservationReport.Outcome.inUse(by: nil), #"{"inUse":{}}"#),
    ])
  }

  /// Values that only the library makes.
  func testCasesWithValuesOfReportsAreCodedUnderTheirNames() throws {
    let refused = #"{"refused":{"_0":{"facts":{"a":"b"},"reason":"s"}}}"#
    try assertCoded([(PreservationReport.Outcome.refused(Refusal("s", ["a": "b"])), refused)])
  }

  func testACaseThatNobodyKnowsIsNamedByTheError() {
    XCTAssertEqual(problem(#"{"other":{}}"#), "“other” is no case of ReportNote in this version.")
    XCTAssertEqual(problem("{}"), "There are 0 cases where one should be.")
    XCTAssertEqual(
      problem(#"{"kept":{},"detached":{}}"#), "There are 2 cases where one should be.")
  }

  func testAValueThatIsMissingOrOfAnotherTypeIsAnError() {
    for json in [
      #"{"version":{}}"#, #"{"version":{"_0":"s"}}"#, #"{"version":7}"#, "7",
      #"{"largeActivity":{"byteCount":7}}"#,
    ] { XCTAssertThrowsError(try decoded(json) as ReportNote, json) }
  }

  private func decoded<Value: Decodable>(_ json: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(json.utf8))
  }

  private func problem(_ json: String) -> String? {
    do {
      return "It is \(try decoded(json) as ReportNote)."
    } catch DecodingError.dataCorrupted(let context) {
      return context.debugDescription
    } catch {
      return nil
    }
  }

  private func assertCoded<Value: Codable & Equatable>(
    _ cases: [(value: Value, json: String)], file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    for (value, json) in cases {
      XCTAssertEqual(
        String(decoding: try encoder.encode(value), as: UTF8.self), json, file: file, line: line)
      XCTAssertEqual(
        try decoded(json) as Value, value, file: file, line: line)
    }
  }
}

private let date = Date(timeIntervalSinceReferenceDate: 5)
