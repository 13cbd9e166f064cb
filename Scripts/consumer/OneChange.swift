import RestorationKit

/// Restores eleven nodes, or saves one changed node of them, and says which code of the library that has run.
///
/// The arguments are a folder of states, `restore` or `save`, and the file for the profile. What is restored was
/// saved by a run before.
@main
enum OneChange {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let screens = (0..<10).map { Screen("screen \($0)") }
    let root = Screen("root", screens)
    // The file is read from the making of a keeper on.
    resetCounters()
    let directory = FileStateDirectory(path: arguments[1])
    let keeper = try StateKeeper(application: "org.example.one-change", directory: directory)
    let restored = try await keeper.restore(into: [root])
    if arguments[2] == "restore" {
      guard screens[3].value == 2 else { throw Unexpected(report: "\(restored)") }
    } else {
      _ = try await keeper.save([root])
      // The first change opens the file, which is not asked about here.
      for change in 1...2 {
        screens[3].value = change
        resetCounters()
        let saved = try await keeper.save([root])
        guard saved.entries.count == 1 else { throw Unexpected(report: "\(saved)") }
      }
    }
    setFilename(arguments[3])
    // The end of the keeper is part of neither, and another profile would be written at exit.
    withExtendedLifetime((keeper, restored)) {
      _ = writeProfile()
      endNow(0)
    }
  }

  private struct Unexpected: Error {
    let report: String
  }
}

private final class Screen: RestorableNode {
  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String?
  let restorationChildren: [any RestorableNode]
  var value = 0 { didSet { invalidateRestorableState() } }

  init(_ name: String, _ children: [Screen] = []) {
    restorationIdentifier = name
    restorationChildren = children
  }

  func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "value") }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value") ?? 0
  }
}

// MARK: - The counters that the compiler adds for coverage

@_silgen_name("__llvm_profile_reset_counters")
private func resetCounters()

@_silgen_name("__llvm_profile_set_filename")
private func setFilename(_ name: UnsafePointer<CChar>)

@_silgen_name("__llvm_profile_write_file")
private func writeProfile() -> Int32

@_silgen_name("_exit")
private func endNow(_ status: Int32)
