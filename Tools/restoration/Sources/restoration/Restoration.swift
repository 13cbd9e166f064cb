import ArgumentParser
import Foundation

@main
enum Main {
  static func main() {
    // A reader that has gone is an error of a write, and not the end of a half done rekey.
    signal(SIGPIPE, SIG_IGN)
    // Else a file would get the number of an output that is closed, and what is told be written
    // into it. These cannot be written.
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDONLY)
    }
    Restoration.main()
  }
}

struct Restoration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restoration",
    abstract: "Looks into the states that apps with RestorationKit have stored.",
    discussion: """
      A state is named by its app (--app org.example.notes, with --state for another than \
      “main”) or by its file. Its key is the app's key file, unless --key-file, --key-fd, \
      --passphrase-fd or --passphrase names another. Keys and passphrases are never arguments.

      Only put-back, rekey, passphrase and prune change anything. They take the lock of the \
      state, and refuse while an app has it. Values are shown only with --values; windows \
      shows titles.

      Output is columns with tabs between them, under a line with their names, which \
      --no-header leaves out; on a terminal it is aligned and has colours, unless NO_COLOR is \
      set. --json writes one JSON value.

      Exit status:
        0   done, and nothing is wrong
        1   diff: the states differ
        2   something stored is damaged, cut off, or breaks the rules
        3   the key is missing, locked or wrong, or the state is one of another app
        4   an app has the state
        5   the system failed: no permission, a full disk, a bad path
        6   nothing is stored there
        64  the arguments are wrong
        141 nobody reads the output any more
      """,
    version: "1",
    subcommands: [
      Tree.self, Show.self, Windows.self, Verify.self, Diff.self, History.self, Explain.self,
      Export.self, Report.self, PutBack.self, Rekey.self, ChangePassphrase.self, Prune.self,
    ])
}
