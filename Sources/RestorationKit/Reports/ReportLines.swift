internal import ArchiveCodec

extension ReportEntry: CustomStringConvertible {
  /// The path, the class and the outcome; then a line for every problem.
  ///
  /// A path of more than 24 identifiers is cut to its last ones, after “…” and the
  /// number of identifiers before them.
  public var description: String {
    let name = path.count == 0 ? className : "\(path.phrase) (\(className))"
    let lines = problems.map { "\n    problem: \($0)" }
    return (facts.isEmpty ? "\(name):" : "\(name): \(facts)") + lines.joined()
  }

  /// The outcome of the element and its problems, in sentences.
  public var reason: String {
    problems.reduce(facts) { text, problem in
      text.isEmpty ? problem : text + (text.hasSuffix(".") ? " " : ". ") + problem
    }
  }

  /// The problems of the element, each in a sentence with its place.
  var said: [String] {
    let place = kind == .application ? "" : "“\(path.phrase)” (\(className)): "
    return ((outcome.isProblem ? [outcome.description] : []) + problems).map { place + $0 }
  }

  private var problems: [String] { notes.filter(\.isProblem).map(\.description) }

  /// The outcome and the notes that follow it; that the application is there needs no words.
  private var facts: String {
    let own = kind == .application && !outcome.isProblem ? [] : [outcome.description]
    return (own + notes.filter { !$0.isProblem }.map(\.description)).joined(separator: "; ")
  }
}

extension ElementOutcome: CustomStringConvertible {
  /// The outcome in a sentence.
  public var description: String {
    switch self {
    case .saved: "saved"
    case .savedWithoutState: "saved without its state"
    case .savedWithLastState: "saved with the state of the save before"
    case .keptAsStored: "kept as it is stored"
    case .replaced:
      "gone, another node is saved in its place; it could have come back by restore(late:below:)"
    case .expired(let since, let byteCount):
      "left out with its \(byteCount) bytes, which were kept since \(since): longer than"
        + " policy.keptAge says, or more is kept than policy.keptByteCount"
    case .noIdentifier: "left out, it has no usable restoration identifier"
    case .duplicate:
      "left out, another one has this path; give each of the two an identifier of its own"
    case .containedTwice:
      "left out here, it is in the tree twice; let one node contain it and others refer to it"
    case .skipped: "left out by this version of the app, since restoring it crashed"
    case .unknownRestorationClass(let name):
      "not back, the restoration class \(name) is not registered, or makes no nodes; register it, or"
        + " its new name with \(name) as an alias"
    case .notFound:
      "not found; register its class with a closure that makes it, answer in the delegate, or let"
        + " the node above it contain it before you restore; if it is built later, call"
        + " restore(late:below:)"
    case .notInStoryboard(let name, let identifier):
      "not found, the storyboard \(name) is not registered or has no “\(identifier)”"
    case .notRegistered:
      "not found; register it with keeper.registerObject before you restore,"
        + " or give it an object restoration class"
    case .viewNotFound:
      "not found; let its node have it among its restorationViews when they are loaded"
    case .stackCut: "not back, what it lay on in its stack is not back"
    case .tabNotFound:
      "not back, there is no such tab yet; if one is built later, call restore(late:below:)"
    case .providedTwice(let path):
      "not back, what was provided for it is already back as \(path.phrase)"
    case .parentMissing(let path): "not back, \(path.phrase) above it is not back"
    default: ofStep
    }
  }

  /// The sentence of an element of which a step was asked, or of whose state nobody sees anything.
  private var ofStep: String {
    let by = step?.description ?? "not back"
    let unread = "; nothing was decoded, and saves keep the state as it is stored"
    return switch self {
    case .restored: "restored, \(by)"
    case .restoredWithoutState: "restored without state, as it was saved, \(by)"
    case .decodeFailed(_, let error): "\(by), but its decoding threw: \(error)"
    case .newerVersion(_, let stored, let known):
      "\(by), but its state has version \(stored), newer than \(known)" + unread
    case .migrationFailed(_, let version, let error):
      "\(by), but its migration from version \(version) failed: \(error)" + unread
    case .classMismatch(_, let found):
      "\(by), but as a \(found)" + unread
        + "; if \(found) is its new name, register it with the old one as an alias"
    case .vetoed: "left out, its restoration class returned nil"
    case .factoryFailed(let step, let error): "not back, \(step) threw: \(error)"
    default: ""
    }
  }
}

/// Why a state is kept on this machine only, in words that complete “Not in the store:”.
package struct Refusal: Hashable, Sendable, CustomStringConvertible {
  /// What the module of the directory reads again.
  package let cause: any Hashable & Sendable & CustomStringConvertible

  package init(because cause: some Hashable & Sendable & CustomStringConvertible) {
    self.cause = cause
  }

  package var description: String { cause.description }

  package static func == (one: Refusal, other: Refusal) -> Bool {
    AnyHashable(one.cause) == AnyHashable(other.cause)
  }

  package func hash(into hasher: inout Hasher) { cause.hash(into: &hasher) }
}
