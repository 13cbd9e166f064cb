internal import ArgumentParser
internal import Foundation
internal import Mutants

/// Changes the sources in one small place at a time, and counts how many changes the tests notice.
@main
struct Mutate: ParsableCommand {
  @Option(help: "The folder of the package.")
  var package: String

  @Option(help: "Decides which mutants are tried; random if not given.")
  var seed: UInt64?

  @Option(help: "How many mutants are tried.")
  var count = 100

  @Flag(help: "Also runs the tests of the modules that use what is changed.")
  var allTests = false

  @Argument(help: "Folders, files, or FILE:LINE, in the package.")
  var paths = ["Sources/RestorationKit"]

  func run() throws {
    let seed = seed ?? .random(in: 0...UInt64(UInt32.max))
    let scratch = try ScratchPackage(of: URL(filePath: package))
    let possible = try paths.flatMap { try mutants(at: $0, in: scratch.originals) }
    let path = paths.joined(separator: ", ")
    print("Seed \(seed), \(possible.count) possible mutants in \(path).")
    // Some do not compile, so there are more than are needed.
    let spare = count / 4 + 5
    let candidates = possible.shuffled(seed: seed).prefix(count + spare)
    let compiled = try scratch.build(Dictionary(uniqueKeysWithValues: zip(0..., candidates)))
    let tried = compiled.keys.sorted().prefix(count)

    let bundle = try scratch.testBundle()
    report("Tracing which tests reach which mutant.")
    let tests = try bundle.tests()
    let classes =
      allTests ? tests.classes : tests.classes(ofModules: Set(candidates.map(\.module)))
    guard !classes.isEmpty else {
      throw ValidationError("No class of tests is of \(path). Name --all-tests to run them all.")
    }
    let traces = try bundle.traces(of: classes)
    for name in traces.leftOut { report("Left out, without any mutant: \(name)") }

    let seconds = Int(traces.traces.reduce(0) { $0 + $1.seconds })
    report("\(classes.count) test classes take \(seconds) s. Trying \(tried.count) mutants.")
    let verdicts = try inPairs(Array(tried)) { number in
      let verdict = try bundle.verdict(on: number, traces.traces)
      if let mutant = compiled[number] {
        report("\(mutant.file):\(mutant.line) \(verdict)")
      }
      return verdict
    }
    for (number, verdict) in zip(tried, verdicts) where !verdict.isKilled {
      if let mutant = compiled[number] { print("\n\(mutant.description)\n  \(verdict)") }
    }
    if !traces.leftOut.isEmpty {
      print("\nLeft out, since they fail without any mutant:")
      for name in traces.leftOut { print("  \(name)") }
    }
    print("\n\(verdicts.count(where: \.isKilled)) of \(tried.count) mutants killed")
  }

  func validate() throws {
    guard count > 0 else { throw ValidationError("The count is one or more.") }
  }

  private func mutants(at path: String, in files: [String: Data]) throws -> [Mutant] {
    let parts = path.split(separator: ":", maxSplits: 1).map(String.init)
    let place = parts.first ?? ""
    let folder = place.hasSuffix("/") ? place : "\(place)/"
    let chosen = files.filter { file, _ in
      // The programs of the tutorial are no part of a module.
      file.hasPrefix("Sources/") && file.hasSuffix(".swift") && !file.contains(".docc/")
        && (file == place || file.hasPrefix(folder))
    }
    let found = chosen.sorted { $0.key < $1.key }
      .flatMap { Mutant.all(of: String(decoding: $1, as: UTF8.self), file: $0) }
      .filter { parts.count < 2 || "\($0.line)" == parts[1] }
    guard !found.isEmpty else { throw ValidationError("There is nothing to change in \(path).") }
    return found
  }
}

private let start = ContinuousClock.now

/// Says something about the progress, with the seconds since the start; it is no part of the
/// result.
func report(_ line: String) {
  let seconds = (ContinuousClock.now - start).components.seconds
  FileHandle.standardError.write(Data("\(seconds) s: \(line)\n".utf8))
}

extension Mutant {
  /// The name of the target that it is in, which is that of the folder.
  var module: String { file.split(separator: "/")[1].description }

  fileprivate var description: String {
    func lines(_ mark: String, _ text: String) -> String {
      text.split(separator: "\n").map { "  \(mark) \($0)" }.joined(separator: "\n")
    }
    return "\(file):\(line)\n\(lines("-", before))\n\(lines("+", after))"
  }
}
