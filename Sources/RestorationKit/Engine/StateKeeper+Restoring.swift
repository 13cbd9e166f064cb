internal import ArchiveCodec
public import RestorationFoundation

extension StateKeeper {
  /// Restores what is stored.
  ///
  /// The roots are asked for in the turn of the restore.
  ///
  /// With `onlyUnread` the restore makes up for one that could not read the state, and declines if the app has
  /// something else by now.
  func restore(
    onlyUnread: Bool = false, _ roots: () -> [any RestorableNode]
  ) async throws(RestorationError) -> RestorationReport {
    let result = await Result { () async throws(RestorationError) in
      try await call(.restore) { () async throws in
        let had = onlyUnread && findings.unread != nil ? findings.discarded : nil
        if onlyUnread, had == nil { return RestorationReport(.declined) }
        return try await restoreNow(roots(), ifItHas: had)
      }
    }
    if onlyUnread, case .success(let report) = result, report.outcome == .declined { return report }
    findings.lastRestore = result.map(\.outcome)
    settings.last?.restore = result
    return try result.get()
  }

  /// Begins anew, since whatever was saved so far is stored.
  private func restoreNow(
    _ roots: [any RestorableNode], ifItHas had: Int?
  ) async throws -> RestorationReport {
    if had == nil, settings.host != nil { try checkNoneIsConnected() }
    let unread = findings.unread
    (findings.hasTriedToRestore, findings.isOnDisk) = (true, false)
    // An autosave may have found that there is nothing to save yet.
    defer { autosave?.turns.change() }
    beginAnew()
    let opened: FileQueue.Opened
    do throws(ArchiveError) {
      if file.linked != nil { try await fetch(for: .restore) }
      opened = try await inFileNow { (queue) throws(ArchiveError) in try queue.open() }
    } catch {
      return try refused(error, roots, had, unread)
    }
    if let had, digest(of: roots) != had {
      // The app has gone on, so the state stays one that nobody has read.
      opened.mark?.endRestore()
      findings.unread = unread
      return RestorationReport(.declined)
    }
    var report = opened.report
    (report.stateName, report.otherInstances) = (known.stateName, known.others)
    if !known.others.isEmpty { known.others.say(known.stateName) }
    if settings.values != nil || opened.stored?.values.isEmpty == false {
      values.restore(opened, in: file, isRetry: had != nil)
    }
    if let stored = opened.stored {
      restore(stored, opened.mark, roots, &report)
      opened.mark?.endRestore()
    } else if report.outcome == .noArchive {
      document = Document()
      let problems = [report.launchProblem, await keyProblem()].compactMap(\.self)
      report.launchProblem = problems.isEmpty ? nil : problems.joined(separator: "; ")
    }
    return report
  }

  /// Why saves will fail, if the provider makes no key and has none; nil if they will not.
  private func keyProblem() async -> String? {
    guard !settings.source.keys.makesKey else { return nil }
    do throws(ArchiveError) {
      try await inFileNow { (queue) throws(ArchiveError) in _ = try queue.file.key() }
      return nil
    } catch {
      return "\(RestorationError.notRestored(error, makesKey: false))"
    }
  }

  /// Decides what becomes of a restore that could not open the state.
  private func refused(
    _ error: ArchiveError, _ roots: [any RestorableNode], _ had: Int?, _ unread: ArchiveError?
  ) throws -> RestorationReport {
    let has = error.mayPass ? digest(of: roots) : had
    if let had, error.code == .keyLocked || has != had {
      // The state can still be read later, unless the app has gone on.
      (findings.unread, findings.discarded) = (unread, has == had ? had : nil)
      return RestorationReport(.declined)
    }
    if error.mayPass { (findings.unread, findings.discarded) = (error, has) }
    throw RestorationError.notRestored(error, makesKey: settings.source.keys.makesKey)
  }

  private func restore(
    _ stored: FileQueue.StoredState, _ launch: LaunchMark?, _ roots: [any RestorableNode],
    _ report: inout RestorationReport
  ) {
    let start = ContinuousClock.now
    let run = RestorationRun(
      stored.document, objects, delegate: delegate, roots: roots,
      nodeLimit: settings.policy.nodeLimit, launch
    ) { (record) throws(ArchiveError) in try stored.records.decoder(of: record) }
    report.outcome = run.run()
    guard report.outcome == .restored else {
      // The next save begins anew, and values need no restore of the tree.
      settings.values?.beginAnew(withUnread: true)
      return report.source = nil
    }
    let document = run.settled { stored.records.byteCount(of: $0) }
    report.kept = document.keptElements(types)
    (findings.launch, findings.records) = (launch, settings.host == nil ? nil : stored.records)
    end(run, with: document, since: start, in: &report)
    settings.values?.describe(in: &report)
  }

  /// Goes on with the document that a run has left.
  func end(
    _ run: RestorationRun, with document: Document, since start: ContinuousClock.Instant,
    in report: inout RestorationReport
  ) {
    // What is kept may refer to any object, or lie below any; the next save asks them.
    if document.findsAllByObject {
      for slot in run.order where run.elements.isKnown(slot) {
        guard let object = run.elements[slot].object else { continue }
        KnownObjects.shared.note(object, at: slot, of: owner, hasChanged: true)
      }
    }
    report.lines = ReportEntries(run.lines(document), of: document)
    run.elements.forget()
    (self.document, report.walkDuration) = (document, start.duration(to: .now))
  }
}

/// What a restore did, with a line for every node of the archive.
public struct RestorationReport: Hashable, Sendable {
  /// What became of the restore as a whole.
  public typealias Outcome = ReportOutcome

  /// The step of the lookup that provided a node.
  public enum Step: String, Hashable, Sendable, CustomStringConvertible {
    /// The restoration class that the node's record names.
    case restorationClass = "made by what is registered for it"

    /// The delegate.
    case delegate = "provided by the delegate"

    /// A node of the app that was there, with exactly this path.
    case existing = "already there"

    /// The storyboard that the node's record names.
    case storyboard = "made by its storyboard"

    /// The step in a few words.
    public var description: String { rawValue }
  }

  /// The archive that was restored, or was too old.
  public struct Source: Hashable, Sendable {
    /// Where the archive is, for a person to read.
    public let location: String

    /// When the archive was saved; nil if the time is not known.
    public let savedAt: Date?

    /// Why the newer archives were not restored, each in a sentence with its place, in order; none if
    /// the archive is the state that was saved last.
    ///
    /// The next save keeps an unreadable one in the history.
    public let passedOver: [String]
  }

  /// The outcome of the restore as a whole.
  public internal(set) var outcome: Outcome

  /// The application if there is something to say of it, then the nodes, parents before children.
  ///
  /// - Complexity: O(*n*) in the number of entries when they are asked for first.
  public var entries: [ReportEntry] { lines.made.noting(otherInstances, .restored(by: .delegate)) }

  /// Makes the entries.
  var lines = ReportEntries { [] }

  /// The archive that was restored, or was too old; nil if there is none.
  public internal(set) var source: Source?

  /// A problem of the launch beside the nodes; nil if there was none.
  ///
  /// The text says why the launch could not be marked, what of the state is damaged, or why saves will fail.
  public internal(set) var launchProblem: String?

  /// The name of the state that was restored; nil if none was, or it was only read.
  ///
  /// The name has a number if other instances have the names before it.
  public internal(set) var stateName: String?

  /// The instances that have the names before ``stateName``.
  public internal(set) var otherInstances: [OtherInstance] = []

  /// The elements that are not back, or could not be read; the saves that follow keep them.
  ///
  /// ``StatePolicy/keptBound`` says for how long. Empty for a node that came late.
  public internal(set) var kept: [KeptElement] = []

  /// How long the caller waited while nodes were made and decoded.
  public internal(set) var walkDuration: Duration = .zero

  init(_ outcome: Outcome, _ others: [OtherInstance] = []) {
    (self.outcome, otherInstances) = (outcome, others)
  }

  /// The entries that the developer should look at, in order.
  ///
  /// A vetoed node and a tab that may be built later are not among them. Neither is a
  /// node that was left out, or saved without state, if another entry has the reason.
  public var problems: [ReportEntry] {
    lines.mayHaveProblems || !otherInstances.isEmpty ? entries.filter(\.isProblem) : []
  }
}

extension RestorationReport: CustomStringConvertible {
  /// A headline and a line for every node.
  public var description: String {
    entries.text(headline + (launchProblem.map { "\n  problem of the launch: \($0)" } ?? ""))
  }

  var headline: String {
    let saved = source?.savedAt.map { " It was saved \($0)." } ?? ""
    return (outcome == .restored ? restored : "Nothing restored: \(outcome.reason)\(saved)")
      + otherInstances.sentence(stateName)
  }

  private var restored: String {
    let nodes = entries.filter { $0.kind != .application }
    let problemCount = nodes.count(where: \.isProblem)
    let wholeCount = nodes.count { $0.outcome.isRead && !$0.isProblem }
    let count =
      "Restored \(wholeCount) of \(nodes.count) nodes"
      + (problemCount == 0 ? "." : ", \(problemCount) with problems.")
    guard let source, !source.passedOver.isEmpty else { return count }
    return count + " It is an older generation, \(source.location)"
      + (source.savedAt.map { ", saved \($0)" } ?? "") + ". "
      + source.passedOver.joined(separator: " ")
  }

  /// The problems of the restore, each in a sentence with its place.
  var said: [String] {
    let isOlder = source?.passedOver.isEmpty == false
    return (outcome.isProblem || isOlder ? [headline] : [])
      + (launchProblem.map { ["A problem of the launch: \($0)"] } ?? []) + problems.flatMap(\.said)
  }
}
