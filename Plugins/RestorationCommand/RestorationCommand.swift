import Foundation
import PackagePlugin

/// Runs the command `restoration` from the package of an app:
/// `swift package restoration tree --app org.example.notes`.
///
/// The command is a package of its own, in `Tools/restoration`. It is built when it is first run, beside
/// what the app builds, so an app that does not run it neither fetches nor builds anything for it.
@main
struct RestorationCommand: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(components: "Tools", "restoration")
    let scratch = context.pluginWorkDirectoryURL.appending(component: "restoration")
    let package = ["--package-path", tool.path, "--scratch-path", scratch.path]
    let swift = try context.tool(named: "swift").url
    // Its output is told only if it fails: what the command writes may be read by a program.
    let build = try run(
      swift, ["build", "--product", "restoration", "--disable-sandbox"] + package,
      isQuiet: true)
    guard build == 0 else { throw Failure(description: "The command could not be built.") }
    let status = try run(
      scratch.appending(components: "debug", "restoration"), arguments, isQuiet: false)
    guard status == 0 else { exit(status) }
  }

  private func run(_ program: URL, _ arguments: [String], isQuiet: Bool) throws -> Int32 {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let output = Pipe()
    if isQuiet { (process.standardOutput, process.standardError) = (output, output) }
    try process.run()
    let told = isQuiet ? try output.fileHandleForReading.readToEnd() : nil
    process.waitUntilExit()
    if process.terminationStatus != 0, let told { FileHandle.standardError.write(told) }
    return process.terminationStatus
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
