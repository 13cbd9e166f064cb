import ArchiveCodec
import ArgumentParser
import RestorationKit

struct ChangePassphrase: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Lets a passphrase open a state, or changes or removes one.",
    discussion: """
      An app opens its state with its key. A passphrase is a second way in, for example to a \
      backup. It stays until the state is discarded, put back or sealed anew by rekey. A \
      passphrase that is removed still opens every copy that was made before, as in the history.
      """,
    subcommands: [List.self, Add.self, Change.self, Remove.self])

  /// Reads a new passphrase.
  struct NewPassphrase: ParsableArguments {
    @Option(help: "A descriptor to read the new passphrase from; asked for by default.")
    var newPassphraseFd: Int32?

    func read() throws -> Passphrase {
      if let newPassphraseFd { return try Secrets.passphrase(from: newPassphraseFd) }
      return try Secrets.ask("New passphrase: ")
    }
  }

  struct List: Inspection {
    static let configuration = CommandConfiguration(
      abstract: "Lists the keys and passphrases that open a state; it needs no key.")

    @OptionGroup var place: PlaceOptions
    @OptionGroup var format: FormatOptions

    func inspect(_ output: Output) throws -> ExitStatus {
      let place = try place.place()
      guard let slots = try Archive.slots(of: place.storage) else { throw place.nothingStored }
      if format.json {
        try output.json { json in
          try json.array { for slot in slots { try json.string(slot.phrase) } }
        }
      } else {
        for slot in slots { try output.line(slot.phrase) }
      }
      return .done
    }
  }

  struct Add: Inspection {
    static let configuration = CommandConfiguration(abstract: "Adds a passphrase.")

    @OptionGroup var options: StateOptions
    @OptionGroup var new: NewPassphrase

    func inspect(_ output: Output) throws -> ExitStatus {
      let place = try options.storedPlace()
      try place.change(options.keys.credential(for: place)) {
        try $0.addSlot(.passphrase(try new.read()))
      }
      try place.tell("A passphrase more opens", count: 1, asJSON: options.json, output)
      return .done
    }
  }

  struct Change: Inspection {
    static let configuration = CommandConfiguration(
      abstract: "Puts another passphrase in the place of the one that opens the state.")

    @OptionGroup var options: StateOptions
    @OptionGroup var new: NewPassphrase

    func inspect(_ output: Output) throws -> ExitStatus {
      let place = try options.storedPlace()
      let old = try options.keys.oldPassphrase(for: place)
      try place.change(.passphrase(old)) {
        try $0.changePassphrase(from: old, to: try new.read())
      }
      try place.tell("Another passphrase opens", count: 1, asJSON: options.json, output)
      return .done
    }
  }

  struct Remove: Inspection {
    static let configuration = CommandConfiguration(
      abstract: "Removes all passphrases; the key still opens the state.")

    @OptionGroup var options: StateOptions

    func inspect(_ output: Output) throws -> ExitStatus {
      let place = try options.storedPlace()
      var count = 0
      try place.change(.key(try options.keys.key(for: place))) { writer in
        for slot in writer.slots ?? [] {
          guard case .passphrase = slot.kind else { continue }
          try writer.removeSlot(slot)
          count += 1
        }
      }
      try place.tell(
        "\(count.of("passphrase")) removed from", count: count, asJSON: options.json, output)
      return .done
    }
  }
}

extension StatePlace {
  /// Says how many passphrases of it were changed.
  fileprivate func tell(
    _ start: String, count: Int, asJSON: Bool, _ output: Output
  ) throws {
    guard asJSON else { return try output.line("\(start) \(fileName.escaped).") }
    try output.json { json in
      try json.object {
        try json.field("file", fileName)
        try json.field("changed", count)
      }
    }
  }

  /// Opens the archive to change it, with the lock of its state; throws if an app has that, and for an
  /// older state.
  func change(_ credential: ArchiveCredential, _ body: (ArchiveWriter) throws -> Void) throws {
    guard moment == nil else {
      throw ValidationError("An older state is not changed: put it back first.")
    }
    try body(ArchiveWriter.open(storage, with: credential, context: context))
  }
}

extension KeyOptions {
  func oldPassphrase(for place: StatePlace) throws -> Passphrase {
    if case .passphrase(let passphrase) = try credential(for: place) { return passphrase }
    throw ValidationError("Name the old passphrase with --passphrase-fd or --passphrase.")
  }
}
