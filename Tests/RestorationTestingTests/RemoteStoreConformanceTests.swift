import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

final class RemoteStoreConformanceTests: XCTestCase {
  private let all = RemoteStoreConformance.checks + RemoteStoreConformance.changesChecks

  func testMemoryKeepsAllPromises() async {
    let failures = await all.failures {
      let store = MemoryRemoteStateStore()
      return { store }
    }
    XCTAssertEqual(failures, [])
  }

  func testAStoreOfFourMethodsKeepsAllPromises() async {
    let failures = await RemoteStoreConformance.checks.failures {
      let store = FourMethodStore()
      return { store }
    }
    XCTAssertEqual(failures, [])
  }

  /// The check that is there for each flaw; a flaw may break others, too.
  private func check(for flaw: RemoteStoreFlaw) -> String {
    switch flaw {
    case .emptyIsAState: "nothingStoredIsNil"
    case .noLocation: "locationIsReadable"
    case .onlyText, .cutsAtAMegabyte: "bytesComeBack"
    case .firstReplacesAll: "firstReplaceStoresOnce"
    case .replaceIgnoresVersions, .appendIgnoresVersions, .removeIgnoresVersions,
      .newerVersionsFit, .strangeVersionsThrow:
      "writesNeedTheStoredVersion"
    case .versionsOfBytes, .appendKeepsTheVersion: "versionsDiffer"
    case .versionsBeginAnew: "noOldVersionFits"
    case .appendIsFirst, .appendReplaces: "appendedIsAtTheEnd"
    case .appendsAreFew: "manyAppendsStayInOrder"
    case .appendStores: "appendMakesNoState"
    case .removeDoesNothing, .namesStay: "removeRemoves"
    case .namesAreText, .namesWithoutCase, .namesAreCut: "everyNameIsAPlace"
    case .namesArePatterns, .prefixOfCharacters: "prefixesAreBytes"
    case .namesAreAPage: "allNamesAreListed"
    case .readsAreKept, .listsAreKept, .listsAreOfOwnWrites: "openedStoresAreOne"
    case .firstRaces: "oneOfManyStores"
    case .replaceRaces: "oneOfManyReplaces"
    case .appendRaces: "oneOfManyAppends"
    case .removeRaces: "oneOfManyRemoves"
    case .removesByName: "oneOfManyChanges"
    case .allIsOneDocument, .othersAreRefused: "namesAreIndependent"
    case .loadIsTorn, .appendIsTorn, .removeIsTorn: "loadIsOfOneMoment"
    case .cancelledWriteIsTorn, .cancelledRemoveIsTorn, .cancelledCallEndsAll:
      "cancelledCallsDoNoHarm"
    case .removalsUntold, .appendsUntold, .removedVersionsAreTold, .appendedVersionsAreTold:
      "changesAreTold"
    case .oneListenerIsTold: "allListenersAreTold"
    case .untrueVersionsAreTold, .toldTooEarly: "toldVersionsAreTrue"
    case .beginsUntold: "listeningIsTold"
    }
  }

  func testEachCheckSeesTheFlawsThatItIsThereFor() async throws {
    try LongTests.skipUnlessOn()
    await assertFlawsAreSeen(
      RemoteStoreFlaw.allCases.filter { !RemoteStoreFlaw.ofTelling.contains($0) },
      by: RemoteStoreConformance.checks, check: check, makePlace)
  }

  func testEachCheckOfChangesSeesTheFlawsThatItIsThereFor() async throws {
    try LongTests.skipUnlessOn()
    await assertFlawsAreSeen(
      RemoteStoreFlaw.ofTelling, by: RemoteStoreConformance.changesChecks, check: check, makePlace)
  }

  func testAFailureSaysThePromiseAndWhatWasSeen() async throws {
    let check = try XCTUnwrap(all.first { $0.name == "removeRemoves" })
    XCTAssertEqual("\(check)", "removeRemoves")
    do {
      try await check.run { makePlace(with: .removeDoesNothing) }
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(
        "\(error)",
        "removeRemoves: What is removed is gone, and its name with it. "
          + "Afterwards it had 100 bytes that begin with 1, 4, 7, 10 and not nothing.")
    }
  }

  func testAPlaceThatCannotBeMadeOrOpenedIsNoBrokenPromise() async {
    struct NoServer: Error {}
    let failures =
      await all.prefix(1).failures { throw NoServer() }
      + all.prefix(1).failures { { throw NoServer() } }
    XCTAssertEqual(failures.map(\.code), [.noPlace, .noPlace])
    XCTAssertEqual(
      failures.map { "\($0)" },
      ["made", "opened"].map {
        "nothingStoredIsNil: The test makes an empty place and opens it. "
          + "It could not be \($0): NoServer()"
      })
  }
}

private func makePlace(with flaw: RemoteStoreFlaw) -> () -> any RemoteStateStore {
  let place = FlawedRemoteStore.Place()
  return { FlawedRemoteStore(place, flaw) }
}

/// A store of one's own, as short as one can be.
private actor FourMethodStore: RemoteStateStore {
  private var states: [[UInt8]: RemoteState] = [:]
  private var versionCount = 0

  nonisolated var location: String { "an actor" }

  func load(_ name: String) -> RemoteState? { states[Array(name.utf8)] }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) -> RemoteVersion? {
    guard load(name)?.version == version else { return nil }
    versionCount += 1
    let new = RemoteVersion("\(versionCount)")
    states[Array(name.utf8)] = RemoteState(bytes: bytes, version: new)
    return new
  }

  func remove(_ name: String, expecting version: RemoteVersion) -> Bool {
    guard load(name)?.version == version else { return false }
    states[Array(name.utf8)] = nil
    return true
  }

  func names(prefix: String) -> [String] {
    states.keys.map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.utf8.starts(with: prefix.utf8) }
  }
}
