internal import ArchiveCodec

/// Another keeper of the same name in this process: a mistake, since a second instance of an
/// app is another process.
extension StateEngine {
  /// Notes the other keeper in the report of a restore.
  func noteOtherKeeper(in report: inout RestorationReport) throws(RestorationError) {
    var holder: String?
    if case .inUse(let process) = report.outcome { holder = process }
    guard let note = otherKeeper(inUseBy: holder) else { return }
    report.lines = report.lines.adding([note], on: subject, .restored(by: .delegate))
    guard settings.isStrict else { return }
    let problem = RestorationReport.Entry.ofAll(subject, .restored(by: .delegate), [note])
    throw RestorationError(
      .strict,
      holder == nil
        ? "The keeper is strict: the restore is complete, but not clean. \(problem)"
        : "The keeper is strict, and nothing was restored. \(problem)")
  }

  /// Notes the other keeper in the report of a save.
  func noteOtherKeeper(in report: inout PreservationReport) throws(RestorationError) {
    var holder: String?
    if case .inUse(let process) = report.outcome { holder = process }
    guard let note = otherKeeper(inUseBy: holder) else { return }
    try throwIfStrict(note)
    report.lines = report.lines.adding([note], on: subject, .saved)
  }

  /// Throws before a save if there is another keeper, as a strict keeper does for any problem.
  func throwIfStrictWithOtherKeeper() throws(RestorationError) {
    if let note = otherKeeper() { try throwIfStrict(note) }
  }

  private func throwIfStrict(_ note: ReportNote) throws(RestorationError) {
    guard settings.isStrict else { return }
    let problem = PreservationReport.Entry.ofAll(subject, .saved, [note])
    throw RestorationError(
      .strict, "The keeper is strict, so nothing was saved. It would be: \(problem)")
  }

  func otherKeeper(inUseBy holder: String? = nil) -> ReportNote? {
    claim.nameOfOtherKeeper(inUseBy: holder).map { .otherKeeper(stateName: $0) }
  }

  private var subject: ElementKind { session == nil ? .application : .scene }
}
