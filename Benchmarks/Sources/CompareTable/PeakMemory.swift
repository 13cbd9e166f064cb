internal import Foundation
internal import Workload

/// The peak memory of a process of its own, because the peak of this one is higher.
enum PeakMemory {
  /// Runs this program again; the process reports at its end.
  ///
  /// - Returns: In bytes; nil if the process failed.
  static func ofProcess(_ arguments: [String]) throws -> Int? {
    let child = Process()
    let output = Pipe()
    child.executableURL = Bundle.main.executableURL
    child.arguments = arguments
    child.standardOutput = output
    try child.run()
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    child.waitUntilExit()
    guard child.terminationStatus == 0 else { return nil }
    return Int(String(decoding: answer, as: UTF8.self))
  }

  /// Tells the peak of this process to the one that ran it.
  static func report() throws {
    try FileHandle.standardOutput.write(contentsOf: Data("\(try byteCount())".utf8))
  }

  private static func byteCount() throws -> Int {
    #if os(Linux)
    // Not getrusage: its peak begins with that of the process that forked.
    let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw WorkloadError("the system does not tell the peak memory")
    }
    return kibibytes << 10
    #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
    #endif
  }
}
