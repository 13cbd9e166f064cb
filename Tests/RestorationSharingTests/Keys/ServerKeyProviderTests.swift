import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationTesting
import TestSupport
import XCTest

/// Keys that a server gets from its environment.
final class ServerKeyProviderTests: XCTestCase {
  private let variable = "RESTORATION_TEST_KEY"
  private let text = "gf8KUXXhTJnk6Q2tTwTs7R4mmCkBq3nJvRk4XhE2xmM="

  override func tearDown() {
    unsetenv(variable)
  }

  func testAVariableKeepsThePromisesOfAKeyFromElsewhere() {
    setenv(variable, text, 1)
    let failures = KeyProviderConformance.checks.failures {
      { EnvironmentKeyProvider(self.variable) }
    }
    XCTAssertEqual(failures, [])
  }

  func testAVariableThatIsNotSetIsNoKey() throws {
    let provider = EnvironmentKeyProvider(variable)
    XCTAssertNil(try provider.key(creating: false))
    assertThrows(.keyMissing, of: provider, creating: true, "the variable \(variable)")
  }

  func testAVariableWithoutAKeyIsDamaged() {
    for value in ["", "secret", String(text.dropLast(4))] {
      setenv(variable, value, 1)
      for creating in [true, false] {
        assertThrows(
          .keyDamaged, of: EnvironmentKeyProvider(variable), creating: creating,
          "the variable \(variable)")
      }
    }
  }

  func testACredentialKeepsThePromisesOfAKeyFromElsewhere() throws {
    let folder = try TemporaryDirectory()
    XCTAssertTrue(
      FileManager.default.createFile(
        atPath: folder.child("notes"), contents: Data(text.utf8),
        attributes: [.posixPermissions: 0o400]))
    let failures = KeyProviderConformance.checks.failures {
      { CredentialKeyProvider("notes", folder: folder.path) }
    }
    XCTAssertEqual(failures, [])
    setenv(variable, text, 1)
    let same = try XCTUnwrap(EnvironmentKeyProvider(variable).key(creating: false))
    let key = try CredentialKeyProvider("notes", folder: folder.path).key(creating: true)
    XCTAssertEqual(key?.isSame(as: same), true)
  }

  func testTheFolderOfCredentialsIsThatOfTheEnvironment() throws {
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials/notes.service", 1)
    defer { unsetenv("CREDENTIALS_DIRECTORY") }
    XCTAssertEqual(
      CredentialKeyProvider("key").location, "/run/credentials/notes.service/key")
  }

  func testACredentialThatIsNotThereIsNoKey() throws {
    for folder in [nil, try TemporaryDirectory().path] {
      let provider = CredentialKeyProvider("notes", folder: folder)
      XCTAssertNil(try provider.key(creating: false))
      assertThrows(
        .keyMissing, of: provider, creating: true, "\(folder ?? "$CREDENTIALS_DIRECTORY")/notes")
    }
  }

  private func assertThrows(
    _ code: ArchiveError.Code, of provider: any KeyProvider, creating: Bool, _ place: String,
    line: UInt = #line
  ) {
    XCTAssertThrowsError(try provider.key(creating: creating), line: line) {
      XCTAssertEqual(($0 as? ArchiveError)?.code, code, line: line)
      XCTAssertTrue("\($0)".contains(place), "\($0)", line: line)
    }
  }
}
