import ArchiveCodec
public import ArgumentParser
import Foundation
import Hummingbird
import RestorationKit
import RestorationPostgreSQL
import RestorationSharing

/// The program from its command line to its end.
public struct WebCatalogCommand: AsyncParsableCommand {
  /// Its name and what it does.
  public static let configuration = CommandConfiguration(
    commandName: "web-catalog",
    abstract: "Serves a catalog, in which each browser tab comes back as it was.")

  @Option(help: "The port; 0 for any free one.")
  var port = 8080

  @Option(help: "The address to listen at. Put a proxy with TLS before any but a local one.")
  var host = "127.0.0.1"

  @Option(help: "What is stored is in this PostgreSQL database, by a connection string of libpq.")
  var database: String?

  @Option(help: "The schema of the tables in the database.")
  var schema = "web_catalog"

  @Option(
    help: "What is stored is in this folder without a database; usually ~/.local/share/web-catalog."
  )
  var folder: String?

  @Option(help: "The file with the master key; it is made if it is not there.")
  var masterKey: String?

  @Option(help: "The file with a master key from before; may come more than once.")
  var formerMasterKey: [String] = []

  @Flag(help: "Makes the file with the master key if it is not there, and ends.")
  var makeMasterKey = false

  @Flag(help: "Seals the keys of all users under the master key, and ends.")
  var rotateKeys = false

  @Option(
    help:
      "The file with the token of the operators' page; without it the variable OPERATORS_TOKEN.")
  var operatorsToken: String?

  @Flag(help: "Cookies for HTTPS alone, as behind a proxy with TLS.")
  var secureCookies = false

  @Option(
    help:
      "Where browsers find this site, for links to other devices, as in https://catalog.example.")
  var publicAddress: String?

  @Option(help: "After how many seconds a tab is closed that no page shows.")
  var closeAfter = 60.0

  @Option(help: .hidden)
  var heartbeatSeconds = 15.0

  @Option(help: .hidden)
  var requestSeconds = 30.0

  @Option(help: .hidden)
  var linkSeconds = Handovers.lifetime

  @Option(help: .hidden)
  var daysAhead = 0.0

  /// Creates one with the usual options.
  public init() {}

  /// Checks what the types of the options do not.
  public func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("A port is 0 to 65535.") }
    guard (0.1...86_400).contains(closeAfter) else {
      throw ValidationError("Tabs are closed after 0.1 to 86400 seconds.")
    }
    guard publicAddress.map({ origin(of: $0) != nil }) ?? true else {
      throw ValidationError("A public address is one as in https://catalog.example.")
    }
  }

  /// Serves until the process is asked to end.
  public func run() async throws {
    let home = FileManager.default.homeDirectoryForCurrentUser.path
    let folder = folder ?? home + "/.local/share/web-catalog"
    let path = masterKey ?? folder + ".key"
    let master = KeyFile(path: path)
    _ = try master.key(creating: true)
    guard !makeMasterKey else { return tell("The master key is in \(path).") }
    let keys = UserKeys(
      store: try store(folder, "keys"), master: master,
      former: formerMasterKey.map { KeyFile(path: $0) })
    if rotateKeys {
      let rotation = try await keys.rotate()
      tell("\(rotation)")
      // The old key is still needed.
      guard rotation.problems.isEmpty else { throw ExitCode.failure }
      return
    }
    let catalog = try await WebCatalog(
      WebCatalog.Settings(
        store: store(folder, "states"), keys: keys, name: "\(host):\(port)",
        operatorsToken: token(), usesSecureCookies: secureCookies,
        publicAddress: publicAddress.flatMap(origin),
        requestLimit: .seconds(requestSeconds),
        unusedLimit: .seconds(closeAfter), heartbeat: .seconds(heartbeatSeconds),
        linkLifetime: linkSeconds, now: { [daysAhead] in Date() + daysAhead * 86_400 },
        address: .hostname(host, port: port)), pages: Pages())
    try await catalog.run { [host] port in
      tell("Open http://\(host):\(port)/")
    }
  }

  /// The keys are apart from what they open, so that a backup of the states has none.
  private func store(_ folder: String, _ part: String) throws -> any RemoteStateStore {
    guard let database else { return try FolderStore("\(folder)/\(part)") }
    // A page asks again, so it need not wait long. It hears of what other servers store.
    return try PostgreSQLStateStore(
      database,
      options: PostgreSQLStateStore.Options(
        schema: "\(schema)_\(part)", connectTimeout: .seconds(2), waitingTimeout: .seconds(3),
        notifies: part == "states"))
  }

  /// An address without the slash that may end it; nil if it is more than that of a site.
  private func origin(of address: String) -> String? {
    address.wholeMatch(of: /(https?:\/\/[A-Za-z0-9.-]+(:[0-9]{1,5})?)\/?/).map { String($0.1) }
  }

  private func token() throws -> String? {
    let place = operatorsToken ?? "OPERATORS_TOKEN"
    let text: String
    if let operatorsToken {
      do {
        text = try String(contentsOfFile: operatorsToken, encoding: .utf8)
      } catch {
        throw StartProblem("The token in \(place) cannot be read. Is there a file of UTF-8 text?")
      }
    } else {
      text = ProcessInfo.processInfo.environment[place] ?? ""
      if text.isEmpty { return nil }
    }
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard token.utf8.count >= 16 else {
      throw StartProblem("The token in \(place) has less than 16 characters. Make a longer one.")
    }
    return token
  }
}

private func tell(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
