import Foundation

/// The program from its command line to its exit status.
@MainActor package struct CatalogCommand {
  private static let failureStatus: Int32 = 1
  private static let usageStatus: Int32 = 2
  private static let signalStatusBase: Int32 = 128
  private static let scriptedSize = Size(columns: 80, rows: 24)

  private let options: Options
  private let environment: [String: String]

  /// Runs the program.
  ///
  /// - Returns: The exit status.
  package static func run(
    arguments: some Sequence<String>, environment: [String: String]
  ) async -> Int32 {
    do {
      let command = CatalogCommand(options: try Options(arguments), environment: environment)
      return try await command.run()
    } catch {
      OutputDescriptor.standardError.write("catalog: \(error)\n")
      return error is UsageError ? usageStatus : failureStatus
    }
  }

  private func run() async throws -> Int32 {
    if options.showsHelp {
      OutputDescriptor.standardOutput.write(Options.help)
      return 0
    }
    Signals.holdEndings()
    let navigation = NavigationStack(root: ProductListScreen(catalog: try catalog()))
    let log = try screenLog()
    guard let console = try scriptedConsole() else {
      let console = try TerminalConsole()
      defer { console.close() }
      return await status(of: App(navigation: navigation, console: console, log: log))
    }
    return await status(of: App(navigation: navigation, console: console, log: log))
  }

  private func status(of app: App) async -> Int32 {
    guard case .signal(let number) = await app.run() else { return 0 }
    return Self.signalStatusBase + number
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

  private func scriptedConsole() throws -> ScriptedConsole? {
    guard let path = options.script else { return nil }
    return ScriptedConsole(
      try Script(scriptText(path)), size: options.size ?? Self.scriptedSize,
      staysAfterwards: options.staysAfterScript,
      print: OutputDescriptor.standardOutput.write)
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
