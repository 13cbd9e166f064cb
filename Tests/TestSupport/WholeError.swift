package import ArchiveCodec
package import RestorationKit
package import RestorationTesting
import XCTest

/// All that a ``RestorationError`` says, to be compared with what a test expects.
package struct WholeError: Hashable {
  package let code: RestorationError.Code
  package let archive: ArchiveError?
  package let description: String

  package init(_ error: RestorationError) {
    (code, archive, description) = (error.code, error.archive, error.description)
  }

  /// One that an archive is the cause of.
  package init(_ archive: ArchiveError) {
    (code, self.archive, description) = (.archive, archive, archive.description)
  }

  /// One that kept a state from being restored.
  package init(notRestored archive: ArchiveError) {
    code = .archive
    self.archive = archive
    let advice =
      switch archive.code {
      case .keyMissing:
        "End the app and put the key back; else the next save makes a new key and sets aside"
          + " what is stored."
      case .wrongKey:
        "If you have the key that it was written with, end the app and put that back;"
          + " else the next save sets aside what is stored."
      case .limitExceeded:
        "Raise the limit and launch again; else the next save sets aside what is stored."
      default: "Let the app go on; its next save sets aside what is stored."
      }
    description = "\(archive.finding) \(advice)"
  }

  /// One of the library itself.
  package init(_ code: RestorationError.Code, _ description: String) {
    (self.code, archive, self.description) = (code, nil, description)
  }
}

/// The error that the body throws, and a failure if it throws none.
@MainActor
package func restorationError(
  _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line,
  _ body: () async throws -> Void
) async -> WholeError? {
  do {
    try await body()
    XCTFail("did not throw \(message())", file: file, line: line)
    return nil
  } catch let error as RestorationError {
    return WholeError(error)
  } catch {
    XCTFail("threw \(error) \(message())", file: file, line: line)
    return nil
  }
}

/// A failure if the body throws anything but the expected error.
@MainActor
package func assertThrows(
  _ expected: WholeError, _ message: @autoclosure () -> String = "",
  file: StaticString = #filePath, line: UInt = #line, _ body: () async throws -> Void
) async {
  let error = await restorationError(message(), file: file, line: line, body)
  guard let error else { return }
  XCTAssertEqual(error, expected, message(), file: file, line: line)
}

/// The failure of a tester that the body throws, and a failure of the test if it throws none.
@MainActor
package func testFailure(
  file: StaticString = #filePath, line: UInt = #line, _ body: () async throws -> Void
) async -> RestorationTestFailure? {
  do {
    try await body()
    XCTFail("did not throw", file: file, line: line)
    return nil
  } catch let failure as RestorationTestFailure {
    return failure
  } catch {
    XCTFail("threw \(error)", file: file, line: line)
    return nil
  }
}
