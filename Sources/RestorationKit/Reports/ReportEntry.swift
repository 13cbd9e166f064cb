public import RestorationFoundation

/// The line of a report about one node, view or object, or about the application.
///
/// The application has an entry only if the report has something to say of it. That entry comes first.
public struct ReportEntry: Hashable, Sendable {
  package let kind: ElementKind

  /// Where the element is; empty for the application.
  public let path: RestorationPath

  /// The name of the element's class, in a restore as it was saved.
  public let className: String

  /// What happened to the element.
  public internal(set) var outcome: ElementOutcome

  /// Facts about the element beside its outcome.
  public internal(set) var notes: [ReportNote] = []

  /// When a save kept the element for the first time; nil if none has, or if the entry is not of what is kept.
  public internal(set) var since: Date?

  /// The bytes that are kept, with all that is kept below the element; nil if the entry is not of what is kept.
  public internal(set) var byteCount: Int?
}

/// The kind of an element, or of an entry in a report.
package enum ElementKind: String, Hashable, Sendable {
  case application, scene, node, view, object
}

/// What happened to an element in a save or in a restore.
public enum ElementOutcome: Hashable, Sendable {
  // MARK: In a save

  /// The element is in the archive.
  case saved

  /// The element is in the archive without state, because encoding threw.
  case savedWithoutState

  /// The element is in the archive as it was stored before, because this version of
  /// the app cannot read its state or it was not back after the restore;
  /// ``PreservationReport/kept`` says why.
  case keptAsStored

  /// The element was not back, and was kept since the date. That is longer than the
  /// ``StatePolicy/keptAge`` says, or all kept elements together have more bytes. So the element is
  /// left out with all below it, which took so many bytes together.
  case expired(since: Date, byteCount: Int)

  /// The element was not back and kept; now another node is saved at its path, and the kept state stays
  /// beside that of the node.
  case replaced

  /// The element is saved with the state that it was saved with last, since its new
  /// state could not be encoded.
  case savedWithLastState

  /// The element has no identifier, or one that is too long; then a note says so.
  ///
  /// What lies below it is not stored, either, but for that to which references lead.
  case noIdentifier

  /// Another node had its path before; what lies below it is not stored, either, as with ``noIdentifier``.
  ///
  /// A registered object is stored, but a restore does not find it.
  case duplicate

  /// The element is in the tree twice; only the first place counts.
  case containedTwice

  // MARK: In a restore

  /// The node is back, with its state. The delegate brings back the application's values.
  case restored(by: RestorationReport.Step)

  /// The node is back; it was saved without state, so nothing was decoded.
  case restoredWithoutState(by: RestorationReport.Step)

  /// The node is back, but its decoding threw; the error is given.
  case decodeFailed(by: RestorationReport.Step, String)

  /// A newer version of the class wrote the state, so no factory or object saw it;
  /// saves leave the state as it is. With a nil step the node is not back.
  case newerVersion(by: RestorationReport.Step?, stored: Int, known: Int)

  /// The migration from a version threw the error, or there is no such migration. No
  /// factory or object saw the state; saves leave it as it is. With a nil step
  /// the node is not back.
  case migrationFailed(by: RestorationReport.Step?, from: Int, String)

  /// The step provided an object of another class than the saved one. The object is
  /// used as it is, and nothing was decoded.
  case classMismatch(by: RestorationReport.Step, found: String)

  /// The restoration class returned nil, so the node goes with all below it, and with
  /// the nodes that lay on it in a stack. No other outcome drops a stored node.
  case vetoed

  /// The step that was asked for the node threw; the error is given.
  case factoryFailed(RestorationReport.Step, String)

  /// Nothing that makes nodes is registered under the name of the node's restoration class.
  case unknownRestorationClass(String)

  /// No step provided the node.
  case notFound

  /// The node's storyboard is not registered, or has no such identifier any more.
  case notInStoryboard(String, identifier: String)

  /// No object is registered under the object's identifier and parent.
  case notRegistered

  /// The view's node has no such view.
  case viewNotFound

  /// The node lay in a stack on a node that is not back.
  case stackCut

  /// The tabs have no tab with the node's identifier now.
  case tabNotFound

  /// The object that was provided for the node had been provided before, for this path.
  case providedTwice(RestorationPath)

  /// The node above, at this path, is not back.
  case parentMissing(RestorationPath)

  /// Restoring the node, or a node below it, crashed too often, so no step was asked for it.
  case skipped
}
