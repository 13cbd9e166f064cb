import Foundation
import RestorationKit

/// Writes to each of the first three descriptors what it is, once the library has its files open.
@MainActor
enum Descriptors {
  @Restored("count") static var count = 0

  static func main() async throws {
    let keeper = try await Restoration.begin("org.example.notes")
    count += 1
    _ = try await keeper.save([])
    let names = (0...2).map { descriptor in
      let path = "/proc/self/fd/\(descriptor)"
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "closed"
    }
    let line = "count \(count) \(names.joined(separator: " "))\n"
    for descriptor: Int32 in 0...2 { _ = line.withCString { write(descriptor, $0, strlen($0)) } }
    await Restoration.end()
  }
}
