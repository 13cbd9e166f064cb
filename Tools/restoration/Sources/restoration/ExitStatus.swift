import ArchiveCodec
import ArgumentParser
import Foundation

/// What the process says when it ends; the help of the tool lists them.
enum ExitStatus: Int32, Error {
  case done = 0
  case different = 1
  case damaged = 2
  case noKey = 3
  case inUse = 4
  case systemFailed = 5
  case nothingStored = 6
  case outputClosed = 141

  init(_ error: ArchiveError) {
    switch error.code {
    case .keyMissing, .keyLocked, .keyUnavailable, .keyDamaged, .keyExposed, .wrongKey,
      .wrongPassphrase, .wrongContext, .passphraseEmpty:
      self = .noKey
    case .locked: self = .inUse
    case .notAnArchive, .unsupportedVersion, .unsupportedFeature, .damaged, .truncated,
      .malformed, .limitExceeded, .typeMismatch, .numberOutOfRange, .keyNotFound:
      self = .damaged
    default: self = .systemFailed
    }
  }
}

/// Something that the tool has to say before it ends.
struct Failure: Error {
  let status: ExitStatus
  let message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }
}

/// A subcommand that writes to an ``Output``.
protocol Inspection: ParsableCommand {
  /// Does the work; returns how it went, if nothing was thrown.
  func inspect(_ output: Output) throws -> ExitStatus
}

extension Inspection {
  func run() throws {
    let output = Output()
    let status: ExitStatus
    do {
      status = try inspect(output)
      try output.flush()
    } catch let exit as ExitStatus {
      throw ExitCode(exit.rawValue)
    } catch let failure as Failure {
      throw end(output, failure.message, failure.status)
    } catch let error as ArchiveError {
      throw end(output, error.description, ExitStatus(error))
    } catch let error as ValidationError {
      throw error
    } catch {
      // The parser would end with 1, which says that two states differ.
      throw end(output, error.localizedDescription, .systemFailed)
    }
    if status != .done { throw ExitCode(status.rawValue) }
  }

  /// What was written before is given out first: of a damaged file that is a part.
  private func end(_ output: Output, _ message: String, _ status: ExitStatus) -> ExitCode {
    do {
      try output.flush()
    } catch ExitStatus.outputClosed {
      return ExitCode(ExitStatus.outputClosed.rawValue)
    } catch {
      // What went wrong first is told.
    }
    Output.complain(message)
    return ExitCode(status.rawValue)
  }
}
