extension RestorationReport {
  /// The problems of the restore, each in a sentence with its place.
  var said: [String] {
    let ofAll: [String] =
      switch outcome {
      case .locked: [headline + " Restore again when it is unlocked."]
      case .inUse: [headline + " End that one, and launch again."]
      case .crashed, .delegateGone: [headline]
      case .restored where source?.passedOver.isEmpty == false: [headline]
      case .restored, .noArchive, .nothingKept, .declined, .tooOld: []
      }
    return ofAll + (launchProblem.map { ["A problem of the launch: \($0)"] } ?? [])
      + problems.flatMap(\.said)
  }
}

extension PreservationReport {
  /// The problems of the save, each in a sentence with its place.
  var said: [String] {
    switch outcome {
    case .locked, .inUse, .refused, .delegateGone: [headline] + problems.flatMap(\.said)
    case .saved, .declined, .disconnected: problems.flatMap(\.said)
    }
  }
}

extension ReportEntry {
  /// The problems of the element, each in a sentence with its place.
  fileprivate var said: [String] {
    ((outcome.isProblem ? [outcome.description] : [])
      + notes.filter(\.isProblem).map(\.description))
      .map { place + $0 }
  }

  /// The place of the element; empty where the problem names it.
  private var place: String {
    switch kind {
    case .application, .scene: ""
    // The library's own elements have names that no app has given.
    case _ where path.components.first == "@values":
      path.count > 1 ? "the value “\(path.identifier ?? "")”: " : ""
    case _ where className.hasPrefix("@"): "“\(path.phrase)”: "
    default: "“\(path.phrase)” (\(className)): "
    }
  }
}
