import Foundation

extension FuzzTarget {
  /// The entry point that libFuzzer calls for each input.
  package func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(Finding) {
      try run([UInt8](UnsafeBufferPointer(start: start, count: count)))
      return 0
    } catch {
      fatalError("\(error)")
    }
  }

  /// Writes the seeds into the directory that `FUZZ_SEEDS` names, and exits.
  package func writeSeedsIfAsked() -> CInt {
    guard let directory = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
    do {
      for (number, seed) in try seeds.enumerated() {
        try Data(seed).write(to: URL(filePath: "\(directory)/seed-\(number)"))
      }
      exit(0)
    } catch {
      fatalError("\(error)")
    }
  }
}
