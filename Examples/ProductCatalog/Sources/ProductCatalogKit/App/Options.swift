/// What the command line asks for.
package struct Options: Hashable, Sendable {
  package var showsHelp = false
  package var script: String?
  package var staysAfterScript = false
  package var size: Size?
  package var screenLog: String?
  package var data: String?
  package var products: String?

  package static let help = """
    Usage: catalog [options]

    Browse a catalog of free programs, and put their descriptions in your own words.

      --data DIR          keep your edits here; otherwise in $XDG_DATA_HOME/product-catalog
                          or ~/.local/share/product-catalog
      --products FILE     show these products, not the ones that come with the program
      --script FILE|-     take keys from a script and print screens as plain text
      --size 80x24        the size of the screen, with --script
      --stay              go on running when the script has ended
      --screen-log FILE   add a line of JSON to a file for every screen shown
      --help              show this help

    """

  /// Reads the arguments that follow the name of the program.
  package init(_ arguments: some Sequence<String>) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch option {
      case "--help", "-h": showsHelp = true
      case "--stay": staysAfterScript = true
      case "--script": script = try Self.value(of: option, from: &rest)
      case "--size": size = try Self.size(of: option, from: &rest)
      case "--screen-log": screenLog = try Self.value(of: option, from: &rest)
      case "--data": data = try Self.value(of: option, from: &rest)
      case "--products": products = try Self.value(of: option, from: &rest)
      default: throw .unknownOption(option)
      }
    }
    if script == nil, size != nil { throw .needsScript("--size") }
    if script == nil, staysAfterScript { throw .needsScript("--stay") }
  }

  private static func value(
    of option: String, from rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst(), !value.isEmpty else { throw .missingValue(option) }
    return value
  }

  private static func size(
    of option: String, from rest: inout ArraySlice<String>
  ) throws(UsageError) -> Size {
    let text = try value(of: option, from: &rest)
    guard let size = Size(text) else { throw .malformedSize(text) }
    return size
  }
}
