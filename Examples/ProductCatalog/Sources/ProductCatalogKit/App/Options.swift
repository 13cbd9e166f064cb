package import ArgumentParser

/// What the command line asks for.
package struct Options: ParsableCommand {
  package static let version = "1.0"

  package static let configuration = CommandConfiguration(
    commandName: "catalog",
    abstract: "Browse a catalog of free programs, and put their descriptions in your own words.",
    discussion: """
      The program starts where you left it, however it ended. If SIGKILL ended it and the terminal \
      does not show what you type, start it again, or type “reset” and press Ctrl-J.
      """, version: version)

  @Option(
    help: ArgumentHelp(
      "Keep your edits here; otherwise in $XDG_DATA_HOME/product-catalog, or in"
        + " ~/.local/share/product-catalog.", valueName: "dir"))
  package var data: String?

  @Option(
    help: ArgumentHelp(
      "Show these products, not the ones that come with the program.", valueName: "file"))
  package var products: String?

  @Option(
    help: ArgumentHelp(
      "Take keys from a script (- for standard input) and print screens as plain text.",
      valueName: "file"))
  package var script: String?

  @Option(help: ArgumentHelp("The size of the screen, with --script.", valueName: "80x24"))
  package var size: Size?

  @Flag(help: "Go on running when the script has ended.")
  package var stay = false

  @Option(
    help: ArgumentHelp(
      "Add a line of JSON to a file for every screen shown.", valueName: "file"))
  package var screenLog: String?

  @Flag(help: "Say on standard error what was restored, and what cannot be saved well.")
  package var report = false

  package init() {}

  package func validate() throws {
    let paths = [
      ("--data", data), ("--products", products), ("--script", script), ("--screen-log", screenLog),
    ]
    for (option, path) in paths where path?.isEmpty == true {
      throw ValidationError("The option \(option) needs a value.")
    }
    for (option, isGiven) in [("--size", size != nil), ("--stay", stay)]
    where isGiven && script == nil {
      throw ValidationError("The option \(option) goes with --script only.")
    }
  }
}

extension Size: ExpressibleByArgument {
  package init?(argument: String) {
    self.init(argument)
  }
}
