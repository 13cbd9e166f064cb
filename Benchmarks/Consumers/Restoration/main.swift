#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RestorationKit

final class Screen: RestorableNode {
  let restorationIdentifier: String?
  let restorationChildren: [any RestorableNode]
  var value = 0

  init(_ name: String, _ children: [Screen] = []) {
    restorationIdentifier = name
    restorationChildren = children
  }

  func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "value") }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value") ?? 0
  }
}

let screens = (1...9).map { Screen("screen \($0)") }
let root = Screen("root", screens)
let keeper = try StateKeeper(
  application: "org.example.consumer",
  directory: FileStateDirectory(path: CommandLine.arguments[1]))
let report = try await keeper.restore(into: [root])
if report.entries.isEmpty {
  screens[3].value = 7
  try await keeper.save([root])
}
print(screens[3].value, peakMemory())
