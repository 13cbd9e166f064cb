#if PostgreSQL
import RestorationKit
import RestorationPostgreSQL
import RestorationTesting
import XCTest

final class ConformanceTests: StoreTestCase {
  private func failures(
    of checks: [AsyncConformanceCheck<any RemoteStateStore>], notifies: Bool
  ) async throws -> [RestorationTestFailure] {
    let connectionString = server.connectionString
    var placeCount = 0
    return await checks.failures {
      placeCount += 1
      let options = PostgreSQLStateStore.Options(
        schema: "\(schema) \(placeCount)", connectionLimit: 4, notifies: notifies)
      return { try PostgreSQLStateStore(connectionString, options: options) }
    }
  }

  func testTheStoreKeepsAllPromises() async throws {
    let failures = try await failures(of: RemoteStoreConformance.checks, notifies: false)
    XCTAssertEqual(failures, [])
  }

  func testAStoreThatNotifiesKeepsAllPromises() async throws {
    let failures = try await failures(
      of: RemoteStoreConformance.checks + RemoteStoreConformance.changesChecks, notifies: true)
    XCTAssertEqual(failures, [])
  }
}
#endif
