/// The tests of a bundle, by their classes.
package struct TestList: Equatable {
  package struct Class: Equatable, Sendable {
    /// With the target before it, as in `RestorationTreeTests.ListTests`.
    package let name: String
    /// With the class before them, as in `RestorationTreeTests.ListTests/testARow`.
    package let tests: [String]
  }

  package let classes: [Class]

  /// Reads what a bundle says when it is asked with `--list-tests`.
  package init(_ output: String) {
    let tests = output.split(separator: "\n").compactMap { line in
      line.firstMatch(of: #/^(\w+\.\w+)/\w+$/#).map { (name: String($0.1), test: String(line)) }
    }
    classes = Dictionary(grouping: tests, by: \.name)
      .map { Class(name: $0, tests: $1.map(\.test)) }
      .sorted { $0.name < $1.name }
  }

  /// The classes in the test targets of modules.
  ///
  /// A module that others use is reached by nearly all tests, so those of the others would take most
  /// of the time, and what only they notice is not tested where it belongs.
  package func classes(ofModules modules: Set<String>) -> [Class] {
    let targets = modules.flatMap { Self.targets[$0] ?? ["\($0)Tests"] }
    return classes.filter { test in targets.contains { test.name.hasPrefix("\($0).") } }
  }

  /// The targets with the tests of modules that have not just one of their name.
  ///
  /// Features of the library cross those of the modules beside it.
  private static let targets = [
    "RestorationKit": library, "RestorationInspection": library, "RestorationSharing": library,
  ]
  private static let library = ["Core", "Tree", "Value", "Window", "Sharing"].map {
    "Restoration\($0)Tests"
  }
}
