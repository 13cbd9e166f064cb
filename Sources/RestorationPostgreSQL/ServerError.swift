#if PostgreSQL
internal import RestorationSharing

/// What a server says by the five characters of an SQLSTATE, in sentences.
struct ServerError {
  let code: String
  let message: String
  let place: String

  var storeError: RemoteStoreError {
    switch code {
    case "28P01", "28000":
      error(.refused, "does not let this user in", "Check user, password and its pg_hba.conf.")
    case "3D000":
      error(.refused, "has no such database", "Create it, or name another one.")
    case "42501":
      error(
        .refused, "does not let this user do that",
        "Grant the right; “States in PostgreSQL” lists those that are needed.")
    case "53300":
      error(
        .unavailable, "has no connection left",
        "Raise its max_connections, or lower the connectionLimit of the stores.")
    case "53100":
      error(.full, "has no room on its disk", "Make room there.")
    case "25006":
      error(
        .unavailable, "takes no writes now, as a standby does",
        "Name all servers in the connection string, with target_session_attrs=read-write.")
    case "57014":
      error(
        .unavailable, "has ended a statement that took too long",
        "Look for what holds it up, or raise the queryTimeout.")
    case "57P01", "57P02", "57P03":
      error(.unavailable, "is stopping or starting", "Wait until it runs.")
    case "3F000", "42P01", "42703", "42883", "42804":
      error(
        .incompatible, "does not have the tables of this version",
        "Let the library make them, or run the SQL of “States in PostgreSQL”.")
    case "23505", "23503", "23514", "23502":
      error(
        .damaged, "has rows that do not fit together",
        "Somebody changed them by hand, or its tables are not those of the library.")
    case "54000", "22001":
      error(.tooLarge, "does not take a state of this size", "Save less.")
    case "22021", "22P05":
      error(
        .refused, "cannot store this name",
        "Use a database with ENCODING UTF8, and names without NUL.")
    case "40001", "40P01":
      error(.unavailable, "was asked for the same state too often at once", "Try again.")
    default:
      error(.unavailable, "has failed", "SQLSTATE \(code) says more.")
    }
  }

  /// Whether the statement was undone since others were in its way, so that it can be run anew.
  var invitesRetry: Bool { code == "40001" || code == "40P01" }

  /// Whether the server ends, or has not begun yet.
  var isOfShutdown: Bool { ["57P01", "57P02", "57P03"].contains(code) }

  /// Whether the statement was undone since it took too long, as one that waits for others does.
  var isOfWaiting: Bool { code == "57014" || code == "55P03" }

  /// Whether the connection is as good as before.
  ///
  /// After anything else it is closed: the server is stopping, is a standby now, or its tables
  /// are not those that were prepared for.
  var leavesConnection: Bool { invitesRetry || ["53100", "54000", "22021"].contains(code) }

  private func error(
    _ code: RemoteStoreError.Code, _ what: String, _ remedy: String
  ) -> RemoteStoreError {
    RemoteStoreError(code, "The server of \(place) \(what): \(message). \(remedy)")
  }
}

extension ServerError {
  /// Finds the SQLSTATE in a message of a connection that was not made.
  ///
  /// libpq gives it only within the text, if it is asked to be verbose:
  /// `… failed: FATAL:  28P01: password authentication failed for user "ada"`.
  init?(connectionMessage text: String, place: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ": ").map { $0.drop { $0 == " " } }
      guard let index = parts.firstIndex(where: Self.isCode), index > 0 else { continue }
      self.init(
        code: String(parts[index]), message: parts[(index + 1)...].joined(separator: ": "),
        place: place)
      return
    }
    return nil
  }

  private static func isCode(_ text: Substring) -> Bool {
    text.utf8.count == 5
      && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 }
      && text.utf8.contains { 0x30...0x39 ~= $0 }
  }
}

extension RemoteStoreError {
  /// No connection could be made, or one was lost.
  static func unreachable(_ place: String, _ reason: String) -> RemoteStoreError {
    RemoteStoreError(
      .unavailable, "The server of \(place) cannot be reached: \(reason). Is it running?")
  }

  static func timedOut(_ place: String, after time: Duration) -> RemoteStoreError {
    RemoteStoreError(
      .unavailable,
      "The server of \(place) has not answered in \(time). It is busy, or the network is down.")
  }

  static func closed(_ place: String) -> RemoteStoreError {
    RemoteStoreError(.unavailable, "The store of \(place) is closed. Make a new one.")
  }
}
#endif
