import CatalogModel
import ArgumentParser
import Foundation
import RestorationKit

/// The program from its command line to its exit status.
@MainActor package struct CatalogCommand {
  private static let failureStatus: Int32 = 1
  private static let usageStatus: Int32 = 2
  private static let signalStatusBase: Int32 = 128
  private static let scriptedSize = Size(columns: 80, rows: 24)

  /// Where keys come from.
  private enum Input {
    case script(Script)
    case terminal(TerminalMode)
  }

  private let options: Options
  private let environment: [String: String]

  /// Runs the program.
  ///
  /// - Returns: The exit status.
  package static func run(
    arguments: some Sequence<String>, environment: [String: String]
  ) async -> Int32 {
    let options: Options
    do {
      options = try Options.parse(Array(arguments))
    } catch {
      return explain(error)
    }
    do {
      return try await CatalogCommand(options: options, environment: environment).run()
    } catch {
      OutputDescriptor.standardError.write("catalog: \(error)\n")
      return error is UsageError ? usageStatus : failureStatus
    }
  }

  /// Answers --help and --version, which the parser reports as errors, and real mistakes.
  private static func explain(_ error: any Error) -> Int32 {
    let message = Options.fullMessage(for: error) + "\n"
    guard Options.exitCode(for: error).isSuccess else {
      OutputDescriptor.standardError.write(message)
      return usageStatus
    }
    OutputDescriptor.standardOutput.write(message)
    return 0
  }

  private func run() async throws -> Int32 {
    Signals.holdEndings()
    // First of all, because without a terminal that is fit for it nothing should be changed.
    let input = try input()
    let catalog = try catalog()
    let restoration = WindowRestoration(
      of: catalog, keeper: try .ofCatalog(catalog), tellsSaveProblems: options.report)
    let log = try screenLog()
    try await restoration.restore()
    if options.report { OutputDescriptor.standardError.write("\(restoration.report)\n") }
    let ending =
      switch input {
      case .script(let script): await run(script, restoration, log)
      case .terminal(let mode): try await run(in: mode, restoration, log)
      }
    guard case .signal(let number) = ending else { return 0 }
    return Self.signalStatusBase + number
  }

  private func run(
    _ script: Script, _ restoration: WindowRestoration, _ log: ScreenLog?
  ) async -> App.Ending {
    let console = ScriptedConsole(
      script, size: options.size ?? Self.scriptedSize, staysAfterwards: options.stay,
      print: OutputDescriptor.standardOutput.write)
    tell(restoration.notice)
    restoration.noticeChanged = { tell($0) }
    return await App(windows: restoration.windows, console: console, log: log).run(
      keeping: restoration)
  }

  /// The notice is on the screen meanwhile, and goes to standard error when that is gone.
  private func run(
    in mode: TerminalMode, _ restoration: WindowRestoration, _ log: ScreenLog?
  ) async throws -> App.Ending {
    let console = try TerminalConsole(mode)
    defer {
      console.close()
      tell(restoration.notice)
    }
    let app = App(windows: restoration.windows, console: console, log: log)
    app.notice = restoration.notice
    restoration.noticeChanged = { app.notice = $0 }
    return await app.run(keeping: restoration)
  }

  private func tell(_ notice: String?) {
    guard let notice else { return }
    OutputDescriptor.standardError.write("catalog: \(notice)\n")
  }

  private func catalog() throws -> Catalog {
    let products = options.products.map { ProductFile(URL(filePath: $0)) } ?? .bundled
    guard let products else { throw UsageError.noBundledProducts }
    let data =
      options.data.map { URL(filePath: $0) } ?? DataDirectory.usual(environment: environment)
    return try Catalog(products: products, edits: EditFile(directory: data))
  }

  private func screenLog() throws(UsageError) -> ScreenLog? {
    guard let path = options.screenLog else { return nil }
    guard let log = ScreenLog(path: path) else { throw .screenLogUnwritable(path) }
    return log
  }

  private func input() throws -> Input {
    if let path = options.script { return .script(try Script(scriptText(path))) }
    let mode = try TerminalMode(environment: environment)
    if mode.wasLeftRaw {
      TerminalConsole.giveBack(mode)
      tell(
        "A program that was killed left this terminal unusable. It is mended now, as “reset” would"
          + " have done.")
    }
    return .terminal(mode)
  }

  private func scriptText(_ path: String) throws(UsageError) -> String {
    do {
      let file =
        path == "-"
        ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    } catch {
      throw .scriptUnreadable(path)
    }
  }
}
