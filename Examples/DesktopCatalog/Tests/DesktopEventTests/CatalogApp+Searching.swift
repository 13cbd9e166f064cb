import ArchiveCodec
import DesktopTestSupport
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// What is typed into the search fields of the app, and what is stored of it.
extension CatalogApp {
  /// Waits until that many of its windows are there, and the same one has had the keyboard for a
  /// while.
  func waitForWindows(_ count: Int) throws {
    try waitFor("\(count) windows. It says: \(try child.errorLines)") { windows.count == count }
    try waitUntilStill("the window in front", for: 0.5) { desktop.xdotool("getactivewindow") }
  }

  /// Presses keys, and a moment later does what a shell command says.
  func press(_ keys: [String], then command: [String] = []) throws {
    let command = command.isEmpty ? [] : ["exec"] + command
    XCTAssertNotNil(
      desktop.output(of: ["xdotool", "key", "--delay", "0"] + keys + command),
      "The keys \(keys) could not be pressed.")
  }
}

extension Desktop {
  /// Starts the app on a disk that can hang.
  func start(
    changing changes: [String: String?] = [:], by launcher: [String] = []
  ) throws -> CatalogApp {
    let disk: [String: String?] = [
      "LD_PRELOAD": CatalogApp.products.appending(path: "libSlowDisk.so").path,
      "SLOW_DISK": hanging.path,
    ]
    return try CatalogApp(on: self, changing: changes.merging(disk) { $1 }, by: launcher)
  }

  /// Starts the app and types into the search field of its first window.
  func start(searching text: String) throws -> CatalogApp {
    let app = try start()
    try app.waitForWindow()
    try app.press(["ctrl+f"] + text.map { "\($0)" })
    try waitUntilStored([text])
    return app
  }

  /// The disk of the app hangs as long as this file is there; see `SlowDisk.c`.
  private var hanging: URL { directory.appending(path: "slow") }

  func setDiskHangs(_ hangs: Bool) throws {
    if hangs {
      try Data().write(to: hanging)
    } else {
      try FileManager.default.removeItem(at: hanging)
    }
  }

  /// What is stored of the search fields of all windows, in any order.
  var searches: [String] {
    get throws {
      guard let key = try KeyFile(path: keyFile.path).key(creating: false) else {
        return []
      }
      return try windowFiles.compactMap { file in
        let name = file.deletingPathExtension().lastPathComponent
        let directory = FileStateDirectory(path: stateDirectory.path)
        return try StoredState.open(
          directory.storage(named: name), named: name, of: Self.application, with: .key(key))
      }.flatMap { state in
        let outline = try state.outline()
        var texts = Dictionary(
          uniqueKeysWithValues: state.windows(in: outline).map { ($0.element.path, "(none)") })
        try outline.forEach { element in
          guard "\(element.path)".hasSuffix("search") else { return }
          let values = try state.values(ofRecord: element.record)
          let window = RestorationPath(Array(element.path.components.prefix(1)))
          texts[window] =
            try values?.decodeIfPresent(String.self, forKey: StateEncoder.stateKey)
            ?? texts[window]
        }
        return Array(texts.values)
      }
    }
  }

  func waitUntilStored(_ searches: [String]) throws {
    try waitFor("the stored searches \(searches), now \((try? self.searches) ?? [])") {
      // While it is being written there may be nothing to read.
      (try? self.searches.sorted()) == searches.sorted()
    }
  }
}
