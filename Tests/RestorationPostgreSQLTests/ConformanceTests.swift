#if PostgreSQL
import RestorationKit
import RestorationPostgreSQL
import RestorationTesting
import TestSupport
import XCTest

final class ConformanceTests: StoreTestCase {
  private func failures(
    of checks: [AsyncConformanceCheck<any RemoteStateStore>], notifies: Bool = false,
    _ change: @escaping @Sendable (any RemoteStateStore) -> any RemoteStateStore = { $0 }
  ) async throws -> [RestorationTestFailure] {
    let connectionString = server.connectionString
    var placeCount = 0
    return await checks.failures {
      placeCount += 1
      let options = PostgreSQLStateStore.Options(
        schema: "\(schema) \(placeCount)", connectionLimit: 4, notifies: notifies)
      return { change(try PostgreSQLStateStore(connectionString, options: options)) }
    }
  }

  func testTheStoreKeepsAllPromises() async throws {
    let failures = try await failures(of: RemoteStoreConformance.checks)
    XCTAssertEqual(failures, [])
  }

  func testLostAnswersAndRepeatedWritesCanBeSettled() async throws {
    let failures = try await failures(of: RemoteStoreConformance.checks) { store in
      SettlingStore(
        FaultyRemoteStateStore(store) { call in
          guard [.replace, .append].contains(call.operation) else { return nil }
          return [.lostAnswer, .repeated, nil][call.number % 3]
        })
    }
    XCTAssertEqual(failures, [])
  }

  func testAStoreThatNotifiesKeepsAllPromises() async throws {
    let failures = try await failures(
      of: RemoteStoreConformance.checks + RemoteStoreConformance.changesChecks, notifies: true)
    XCTAssertEqual(failures, [])
  }
}
#endif
import RestorationSharing
import RestorationSharingTesting
