#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import TestSupport
import XCTest

/// An app whose states are in a database, at several machines.
@MainActor
final class SharedAppTests: StoreTestCase {
  private let keys = MemoryKeyProvider()
  private var roots: [TestNode] = []

  private func launch(_ name: String) async throws -> SceneHost {
    let host = SceneHost(try Device(name, makeStore(), keys: keys).launch())
    host.register(
      SceneConfiguration { [unowned self] in
        let delegate = TestSceneDelegate()
        roots.append(TestNode("root"))
        delegate.roots = roots.suffix(1)
        return delegate
      })
    try await host.launch()
    return host
  }

  func testScenesComeBackAtAnotherServer() async throws {
    let host = try await launch("here")
    for value in ["Rome", "Oslo"] {
      let scene = try await host.open()
      roots.last?.value = value
      let report = try await host.save(scene)
      XCTAssertEqual(report.outcome, .saved)
    }
    await host.close()
    let other = try await launch("there")
    XCTAssertEqual(other.openSessions.count, 2)
    for session in other.openSessions { _ = try await other.connect(session) }
    XCTAssertEqual(Set(roots.suffix(2).map(\.value)), ["Rome", "Oslo"])
    try await other.discard(Array(other.openSessions.prefix(1)))
    await other.close()
    let last = try await launch("last")
    XCTAssertEqual(last.openSessions.count, 1)
  }

  func testASaveThatFindsNoRoomThrowsAndTheNextOneStoresAll() async throws {
    let device = Device("here", try makeStore(), keys: keys)
    let (keeper, root) = (try device.launch(), TestNode("root"))
    root.value = "Rome"
    _ = try await keeper.save([root])
    try server.sql(
      """
      SET search_path = "\(schema)";
      CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON commits FOR EACH ROW EXECUTE FUNCTION fill()
      """)
    for value in ["Oslo", "Bern"] {
      root.value = value
      do {
        XCTFail("\(try await keeper.save([root]).outcome)")
      } catch {
        XCTAssertEqual(error.code, .store)
        XCTAssertTrue(
          "\(error)".contains("has no room on its disk: could not extend file"), "\(error)")
      }
      let restored = try await device.restoredValue()
      XCTAssertEqual(restored, "Rome")
    }
    try server.sql("DROP TRIGGER full_disk ON \"\(schema)\".commits")
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    let restored = try await device.restoredValue()
    XCTAssertEqual(restored, "Bern")
  }
}
#endif
