import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationKit

/// Says what opens a state.
///
/// Nothing of it is a secret itself: others see the arguments of a process.
struct KeyOptions: ParsableArguments {
  @Option(help: "The file that holds the key; the app's own by default.")
  var keyFile: String?

  @Option(help: "A descriptor to read the key from: a key file, or 32 bytes.")
  var keyFd: Int32?

  @Option(help: "A descriptor to read a passphrase from, up to the first line end or the end.")
  var passphraseFd: Int32?

  @Flag(help: "Ask for a passphrase on the terminal.")
  var passphrase = false

  func validate() throws {
    let count = [keyFile != nil, keyFd != nil, passphraseFd != nil, passphrase].count { $0 }
    guard count <= 1 else { throw ValidationError("Name one key or passphrase.") }
  }

  /// What opens the state, or why there is no key; throws what else went wrong.
  func result(for place: StatePlace) throws -> Result<ArchiveCredential, ArchiveError> {
    do {
      if let passphraseFd {
        return .success(.passphrase(try Secrets.passphrase(from: passphraseFd)))
      }
      if passphrase { return .success(.passphrase(try Secrets.ask("Passphrase: "))) }
      return .success(.key(try key(for: place)))
    } catch let error as ArchiveError {
      return .failure(error)
    }
  }

  func credential(for place: StatePlace) throws -> ArchiveCredential {
    switch try result(for: place) {
    case .success(let credential): return credential
    case .failure(let error): throw place.explained(error)
    }
  }

  /// The key; throws if a passphrase is to open the state.
  func key(for place: StatePlace) throws -> ArchiveKey {
    if let keyFd { return try Secrets.key(from: keyFd) }
    let provider =
      keyFile.map { KeyFile(path: $0) } ?? KeyFile(application: place.application)
    guard let key = try provider.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: provider.location)
    }
    return key
  }
}

/// Reads keys and passphrases into memory that is wiped.
enum Secrets {
  private static let keyFileByteCount = 48
  private static let keyStart = 8
  private static let interrupt: UInt8 = 3
  private static let lineFeed: UInt8 = 10
  private static let carriageReturn: UInt8 = 13

  static func key(from descriptor: Int32) throws -> ArchiveKey {
    try withBytes(from: descriptor, atMost: keyFileByteCount + 1) { bytes, count in
      let range: Range<Int>
      switch count {
      case ArchiveKey.byteCount: range = 0..<count
      case keyFileByteCount: range = keyStart..<keyStart + ArchiveKey.byteCount
      default: throw ArchiveError(.keyDamaged, location: "descriptor \(descriptor)")
      }
      return try ArchiveKey(moving: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
    }
  }

  /// Reads a line and no more, so that one descriptor can have an old passphrase and a new one.
  static func passphrase(from descriptor: Int32) throws -> Passphrase {
    try line(from: descriptor, endingWith: [lineFeed])
  }

  /// Asks a person, without showing what is typed.
  static func ask(_ prompt: String) throws -> Passphrase {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else {
      throw Failure(.noKey, "There is no terminal to ask on. Use --passphrase-fd.")
    }
    defer { close(terminal) }
    var shown = termios()
    guard tcgetattr(terminal, &shown) == 0 else { throw cannotBeAsked }
    var hidden = shown
    // An interrupt would end the tool with a terminal that shows nothing. So it ends the line.
    hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
    withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VEOL)] = interrupt }
    guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else { throw cannotBeAsked }
    defer {
      tcsetattr(terminal, TCSAFLUSH, &shown)
      Output.say("\n", to: terminal)
    }
    Output.say(prompt, to: terminal)
    return try line(from: terminal, endingWith: [lineFeed, interrupt])
  }

  private static var cannotBeAsked: Failure {
    Failure(.systemFailed, "The terminal cannot be asked: system error \(errno).")
  }

  private static func line(
    from descriptor: Int32, endingWith ends: [UInt8]
  ) throws -> Passphrase {
    try withBytes(from: descriptor, atMost: Passphrase.largestByteCount + 1, upTo: ends) {
      bytes, count in
      if ends.contains(interrupt), bytes[..<count].contains(interrupt) {
        throw Failure(.noKey, "No passphrase was given.")
      }
      let end = bytes[..<count].firstIndex { [lineFeed, carriageReturn].contains($0) }
      return try Passphrase(
        moving: UnsafeMutableRawBufferPointer(rebasing: bytes[..<(end ?? count)]))
    }
  }

  /// Reads what a descriptor has, up to its end, or with the first of some bytes.
  private static func withBytes<Result>(
    from descriptor: Int32, atMost limit: Int, upTo ends: [UInt8] = [],
    _ body: (UnsafeMutableRawBufferPointer, Int) throws -> Result
  ) throws -> Result {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 1)
    defer {
      // Whatever was taken of them, this wipes all.
      _ = try? Passphrase(moving: bytes)
      bytes.deallocate()
    }
    var count = 0
    while count < limit {
      let wanted = ends.isEmpty ? limit - count : 1
      let got = read(descriptor, bytes.baseAddress?.advanced(by: count), wanted)
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else {
        throw Failure(
          .systemFailed, "Descriptor \(descriptor) cannot be read: system error \(errno).")
      }
      if got == 0 { break }
      count += got
      if ends.contains(bytes[count - 1]) { break }
    }
    return try body(bytes, count)
  }
}
