import ArchiveCodec
import ArchiveForge
import Foundation

/// A file of `Vectors/`: an archive and what a reader must make of it.
///
/// `Vectors/README.md` says what the lines mean.
struct VectorFile {
  var comment = ""
  var secret = Secret.key([])
  var context: [String] = []
  /// What opening strictly gives: `opens` or the code of an error.
  var expect = ""
  /// What opening with recovery gives, if it is something else.
  var recover: String?
  /// The error that only reading everything finds.
  var verify: String?
  /// What an archive holds that opens, in lines.
  var content: [String] = []
  var archive: [UInt8] = []
}

extension VectorFile {
  /// What opens the archive, in the clear.
  enum Secret {
    case key([UInt8])
    case passphrase([UInt8])

    fileprivate var line: String {
      switch self {
      case .key(let bytes): "key: \(VectorFile.hexadecimal(bytes))"
      case .passphrase(let bytes): "passphrase: \(VectorFile.hexadecimal(bytes))"
      }
    }

    var credential: ArchiveCredential {
      get throws {
        switch self {
        case .key(let bytes): return .key(try .known(bytes))
        case .passphrase(var bytes):
          return .passphrase(try bytes.withUnsafeMutableBytes { try Passphrase(moving: $0) })
        }
      }
    }
  }

  struct BadLine: Error {
    let line: String
  }

  private static let contentNames: Set = ["version", "schema", "writable", "record"]

  init(parsing text: String) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let header = lines.prefix { !$0.isEmpty }
    var seen: Set<Substring> = []
    for line in header {
      guard let colon = line.firstRange(of: ": ") else { throw BadLine(line: String(line)) }
      let name = line[..<colon.lowerBound]
      let value = String(line[colon.upperBound...])
      guard seen.insert(name).inserted || name == "context" || name == "record" else {
        throw BadLine(line: String(line))
      }
      switch name {
      case "comment": comment = value
      case "key": secret = .key(try Self.bytes(value))
      case "passphrase": secret = .passphrase(try Self.bytes(value))
      case "context": context.append(value)
      case "expect": expect = value
      case "recover": recover = value
      case "verify": verify = value
      case _ where Self.contentNames.contains(String(name)): content.append(String(line))
      default: throw BadLine(line: String(line))
      }
    }
    for name in ["comment", "expect"] where !seen.contains(Substring(name)) {
      throw BadLine(line: "\(name): is not there")
    }
    guard seen.contains("key") != seen.contains("passphrase") else {
      throw BadLine(line: "either a key or a passphrase must be there")
    }
    for line in lines.dropFirst(header.count + 1) { archive += try Self.bytes(line) }
  }

  private static func bytes(_ hexadecimal: some StringProtocol) throws -> [UInt8] {
    let digits = Array(hexadecimal)
    guard digits.count.isMultiple(of: 2) else { throw BadLine(line: String(hexadecimal)) }
    return try stride(from: 0, to: digits.count, by: 2).map { start in
      guard let byte = UInt8(String(digits[start...start + 1]), radix: 16) else {
        throw BadLine(line: String(hexadecimal))
      }
      return byte
    }
  }

  var text: String {
    var lines = ["comment: \(comment)", secret.line]
    lines += context.map { "context: \($0)" }
    lines.append("expect: \(expect)")
    if let recover { lines.append("recover: \(recover)") }
    if let verify { lines.append("verify: \(verify)") }
    lines += content
    lines.append("")
    for start in stride(from: 0, to: archive.count, by: 32) {
      lines.append(Self.hexadecimal(archive[start..<min(start + 32, archive.count)]))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  static func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}

extension VectorFile {
  /// What became of opening the archive.
  enum Opened {
    case archive(Archive)
    case failure(ArchiveError)

    var outcome: String {
      switch self {
      case .archive(let archive): archive.dropped.map { "opens, dropping \($0.code)" } ?? "opens"
      case .failure(let error): "\(error.code)"
      }
    }
  }

  private struct NothingStored: Error {}

  func open(_ recovery: ArchiveRecovery) throws -> Opened {
    do {
      let opened = try Archive.open(
        MemoryStorage(archive), with: secret.credential, context: ArchiveContext(context),
        recovery: recovery)
      guard let opened else { throw NothingStored() }
      return .archive(opened)
    } catch let error as ArchiveError {
      return .failure(error)
    }
  }

  static func verifyCode(_ archive: Archive) -> String? {
    do {
      try archive.verifyAll()
      return nil
    } catch {
      return "\(error.code)"
    }
  }

  static func content(of archive: Archive) throws -> [String] {
    [
      "version: \(archive.version.generation) \(hexadecimal(archive.version.mac))",
      "schema: \(archive.schema)", "writable: \(archive.isWritable ? "yes" : "no")",
    ] + (try archive.notation().map { "record: \($0)" })
  }
}

extension VectorFile {
  static var folder: URL {
    get throws {
      guard let folder = Bundle.module.url(forResource: "Vectors", withExtension: nil) else {
        throw CocoaError(.fileNoSuchFile)
      }
      return folder
    }
  }

  /// All files by name, without their extension.
  static func all() throws -> [(name: String, vector: VectorFile)] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "txt" }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map { file in
        let name = file.deletingPathExtension().lastPathComponent
        do {
          return (name, try VectorFile(parsing: try String(contentsOf: file, encoding: .utf8)))
        } catch let error as BadLine {
          throw BadLine(line: "\(name): \(error.line)")
        }
      }
  }

  static func named(_ name: String) throws -> VectorFile {
    try VectorFile(
      parsing: String(
        contentsOf: folder.appendingPathComponent("\(name).txt"), encoding: .utf8))
  }
}
