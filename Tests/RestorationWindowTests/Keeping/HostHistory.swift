import ArchiveCodec
import RestorationKit
import TestSupport

enum HostOperation: CaseIterable {
  case save, open, close, disconnect, terminate, discardAll, launch, endNow
}

/// A short life of an app with two windows.
final class HostHistory: ShortHistory<HostOperation> {
  @MainActor
  private final class Window: @MainActor SceneDelegate {
    let root = TestNode("root")

    func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { [root] }
  }

  /// The texts that each window may show after the next launch; nil for a window that is gone, and a
  /// window that was never saved shows an empty one.
  private var allowed: [String: Set<String?>] = [:]
  /// The texts that the windows show.
  private var shown: [String: String] = [:]
  /// Whether a window may come that was being opened.
  private var mayHaveNew = false
  private var host: SceneHost?
  private var saveCount = 0

  override func prepare() async throws {
    try await launch()
    for _ in 1...2 { try await open() }
    finish(.kill)
    await launchArmed()
  }

  override func close() async { await host?.close() }

  override var found: String? {
    shown.isEmpty ? nil : shown.sorted { $0.key < $1.key }.map { "\($0)" }.joined()
  }

  override func perform(_ operation: HostOperation) async throws {
    switch operation {
    case .save:
      if let scene = host?.connectedScenes.first {
        try await save(scene) { try await $0.save(scene) }
      }
    case .endNow: try endNow()
    case .open: try await open()
    case .close:
      guard let scene = host?.connectedScenes.first else { return }
      try await discard([scene.session]) { _ = try await $0.close(scene) }
    case .disconnect:
      guard let scene = host?.connectedScenes.first else { return }
      arm()
      _ = try await host?.disconnect(scene)
    case .terminate:
      arm()
      try await host?.terminate()
    case .discardAll:
      try await discard(host?.openSessions ?? []) { try await $0.discard($0.openSessions) }
    case .launch:
      finish(.kill)
      await launchArmed()
    }
  }

  // MARK: Operations

  private func open() async throws {
    mayHaveNew = true
    arm()
    guard let host else { return }
    let scene = try await host.open()
    try await save(scene) { try await $0.save(scene) }
    if !process.hasEnded { mayHaveNew = false }
  }

  private func save(
    _ scene: RestorableScene, _ body: (SceneHost) async throws -> PreservationReport
  ) async throws {
    guard let host, let (name, text) = change(scene) else { return }
    arm()
    let report = try await body(host)
    guard !process.hasEnded else { return }
    if report.outcome != .saved { fail("\(report)") }
    allowed[name] = [text]
  }

  /// Shows another text in a window; gives the window's name and the text.
  private func change(_ scene: RestorableScene) -> (name: String, text: String)? {
    guard let window = scene.delegate as? Window else { return nil }
    saveCount += 1
    let (name, text) = (scene.session.persistentIdentifier, "text \(saveCount)")
    window.root.value = text
    allowed[name, default: [nil, ""]].insert(text)
    return (name, text)
  }

  private func endNow() throws {
    guard let host else { return }
    let changes = host.connectedScenes.compactMap { change($0) }
    arm()
    let isStored = host.endNow(within: .seconds(60))
    guard !process.hasEnded else { return }
    if !isStored { fail("endNow has stored nothing") }
    for (name, text) in changes { allowed[name] = [text] }
  }

  private func discard(
    _ sessions: [SceneSession], _ body: (SceneHost) async throws -> Void
  ) async throws {
    let names = sessions.map(\.persistentIdentifier)
    for name in names { allowed[name, default: []].insert(nil) }
    arm()
    if let host { try await body(host) }
    guard !process.hasEnded else { return }
    for name in names { allowed[name] = [nil] }
  }

  // MARK: Launches

  override func launch() async throws {
    let keeper = try StateKeeper(
      application: Launch.application, directory: process, keys: keys,
      limits: ArchiveLimits(symbolCount: 1 << 16, commitCount: 3))
    // The histories end more restores than any app does.
    keeper.policy.crashThreshold = .max
    let host = SceneHost(keeper)
    self.host = host
    host.register(SceneConfiguration { Window() })
    arm()
    try await host.launch()
    let failures = await host.restoreScenes()
    guard !process.hasEnded else { return }
    for (session, failure) in failures { fail("\(session.persistentIdentifier): \(failure)") }
    check(host)
  }

  private func check(_ host: SceneHost) {
    shown = [:]
    for (name, error) in host.unreadSessions { fail("window \(name): \(error)") }
    for scene in host.connectedScenes {
      guard let window = scene.delegate as? Window else { continue }
      shown[scene.session.persistentIdentifier] = window.root.value ?? ""
      guard let report = scene.restoration else {
        fail("no report")
        continue
      }
      if !report.problems.isEmpty { fail("\(report)") }
    }
    let found = self.found
    tell("found \(found ?? "nothing")")
    for (name, texts) in allowed where !texts.contains(shown[name]) {
      fail("window \(name) shows \(shown[name] as Any), and not one of \(texts)")
    }
    let new = shown.filter { allowed[$0.key] == nil }
    if !new.isEmpty, !mayHaveNew || new.count > 1 || !new.values.allSatisfy(\.isEmpty) {
      fail("\(new) came from nowhere")
    }
  }
}
