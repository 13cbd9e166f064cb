package import RestorationKit

/// Brings the screens back at the start, and keeps them stored from then on.
///
/// Nothing that goes wrong here ends the program. It is a sentence for the user, and what was
/// stored before stays.
@MainActor package final class ScreenRestoration {
  private let keeper: StateKeeper
  private let navigation: NavigationStack
  private let tellsSaveProblems: Bool
  private lazy var schedule = SaveSchedule(interval: .milliseconds(250)) { [weak self] in
    await self?.save() ?? true
  }

  /// What the user should know now, in plain words; nil if all is well.
  package private(set) var notice: String? {
    didSet { if notice != oldValue { noticeChanged?(notice) } }
  }

  package var noticeChanged: (@MainActor (String?) -> Void)?

  /// - Parameters:
  ///   - navigation: The root of what is stored.
  ///   - keeper: A keeper that knows the screens; see `StateKeeper.ofCatalog`.
  ///   - tellsSaveProblems: Whether single screens that cannot be saved well are worth a notice.
  package init(
    of navigation: NavigationStack, keeper: StateKeeper, tellsSaveProblems: Bool = false
  ) {
    self.navigation = navigation
    self.keeper = keeper
    self.tellsSaveProblems = tellsSaveProblems
  }

  /// Brings back the screens that were stored last.
  ///
  /// - Returns: What happened to every screen; nil if the stored state cannot be read.
  package func restore() async -> RestorationReport? {
    do {
      let report = try await keeper.restore(into: [navigation])
      if !keeper.status.isActive { notice = "Your screens are not back. \(keeper.status)" }
      return report
    } catch {
      notice = "Your screens are not back. \(error)"
      return nil
    }
  }

  /// Stores the screens soon; call it when something on them may have changed.
  package func noteChange() {
    schedule.noteChange()
  }

  /// Stores what is not yet stored, before the program ends.
  package func finish() async {
    await schedule.finish()
  }

  private func save() async -> Bool {
    do {
      notice = notice(after: try await keeper.save([navigation]))
      return true
    } catch {
      notice = "Your screens are not saved. \(error)"
      return false
    }
  }

  private func notice(after report: PreservationReport) -> String? {
    if let kept = report.setAside { return "What could not be read is kept in \(kept)." }
    guard tellsSaveProblems, !report.problems.isEmpty else { return nil }
    return report.problems.map(\.description).joined(separator: " ")
  }
}
