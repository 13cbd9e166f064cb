#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import GRDB

struct Screen: Codable, FetchableRecord, PersistableRecord {
  var name: String
  var value = 0
}

let queue = try DatabaseQueue(path: CommandLine.arguments[1])
var screens = (0...9).map { Screen(name: "screen \($0)") }
try queue.write { database in
  try database.create(table: "screen", ifNotExists: true) { table in
    table.primaryKey("name", .text)
    table.column("value", .integer)
  }
  let stored = try Screen.order(Column("name")).fetchAll(database)
  if stored.isEmpty {
    screens[3].value = 7
    for screen in screens { try screen.insert(database) }
  } else {
    screens = stored
  }
}
print(screens[3].value, peakMemory())
