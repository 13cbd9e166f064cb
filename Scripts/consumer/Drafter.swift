// A program with RestorationDrafts alone.

import Foundation
import RestorationDrafts

let url = FileManager.default.temporaryDirectory.appending(path: "Drafter-\(UUID())")
defer { try? FileManager.default.removeItem(at: url) }
try Data("One".utf8).write(to: url)
let stamp = try FileStamp(of: url)
let before = stamp.compare(with: url)
try Data("Two".utf8).write(to: url)
guard before == .same, case .changed = stamp.compare(with: url) else { fatalError("\(stamp)") }
print("RestorationDrafts sees that a file has changed.")
