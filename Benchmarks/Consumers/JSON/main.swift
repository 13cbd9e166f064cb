#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct Screen: Codable {
  var name: String
  var value = 0
  var children: [Screen] = []
}

let file = URL(filePath: CommandLine.arguments[1])
var root = Screen(name: "root", children: (1...9).map { Screen(name: "screen \($0)") })
if let stored = try? Data(contentsOf: file) {
  root = try JSONDecoder().decode(Screen.self, from: stored)
} else {
  root.children[3].value = 7
  try JSONEncoder().encode(root).write(to: file)
}
print(root.children[3].value, peakMemory())
