import Foundation
import RestorationKit

/// Writes to each of the first three descriptors what it is, once the library has its files open.
@MainActor
enum DescriptorsNow {
  @Restored("count") static var count = 0

  static func main() throws {
    let keeper = try Restoration.beginNow("org.example.notes")
    count += 1
    keeper.endNow()
    let names = (0...2).map { descriptor in
      let path = "/proc/self/fd/\(descriptor)"
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "closed"
    }
    let line = "count \(count) \(names.joined(separator: " "))\n"
    for descriptor: Int32 in 0...2 { _ = line.withCString { write(descriptor, $0, strlen($0)) } }
    exit(0)
  }
}
