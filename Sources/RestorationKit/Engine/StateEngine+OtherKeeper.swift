internal import ArchiveCodec

/// Another keeper of the same name in this process: a mistake, since a second instance of an
/// app is another process.
extension StateEngine {
  /// Notes the other keeper in the report of a restore.
  func noteOtherKeeper(in report: inout RestorationReport) {
    var holder: String?
    if case .inUse(let process) = report.outcome { holder = process }
    guard let note = otherKeeper(inUseBy: holder) else { return }
    report.lines = report.lines.adding([note], on: subject, .restored(by: .delegate))
  }

  /// Notes the other keeper in the report of a save.
  func noteOtherKeeper(in report: inout PreservationReport) {
    var holder: String?
    if case .inUse(let process) = report.outcome { holder = process }
    guard let note = otherKeeper(inUseBy: holder) else { return }
    report.lines = report.lines.adding([note], on: subject, .saved)
  }

  func otherKeeper(inUseBy holder: String? = nil) -> ReportNote? {
    claim.nameOfOtherKeeper(inUseBy: holder).map { .otherKeeper(stateName: $0) }
  }

  private var subject: ElementKind { session == nil ? .application : .scene }
}
