internal import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A fact that a report says of an element, beside its outcome.
///
/// Some notes are problems: each says what the developer should mend.
public enum ReportNote: Hashable, Sendable {
  // MARK: Problems of a save

  /// The element's encoding threw; the error is given in its own words.
  case encodeFailed(String)

  /// The delegate's `willEncodeRestorableState` threw.
  case willEncodeFailed(String)

  /// A root has no identifier, so nothing of the root is saved.
  case rootWithoutIdentifier

  /// The identifier is longer than the format's keys, so the element is left out.
  case identifierTooLong(byteCount: Int)

  /// A reference names a node or view that has no identifier, or an object that
  /// was not registered.
  case referenceWithoutIdentifier(key: String, className: String)

  /// A reference names a view of no node that is preserved.
  case referenceToUnpreservedView(key: String)

  /// The save came before any restore, so it has set aside the stored state.
  case notRestoredBefore

  /// The restore could not read the stored state, for the given reason, so the save has set it aside.
  case unreadable(String)

  /// Another keeper of this process has the state, so this one has a state with a number,
  /// or none with ``InstancePolicy/single``. The note is also in reports of restores.
  case otherKeeper(stateName: String)

  /// The restoration class is not registered, so a restore will not find it.
  case restorationClassNotRegistered(String)

  /// The object has changed without saying so. Only a save of a test, as this one, asks every object and
  /// stores a change like that. Call ``StateRestoring/invalidateRestorableState()`` after each change.
  case notInvalidated

  // MARK: Problems of a restore

  /// The delegate's `didDecodeRestorableState` threw.
  case didDecodeFailed(String)

  /// The restore was given a root, but another object was made at its path, or none.
  /// The given root keeps its defaults.
  case givenRootNotUsed

  /// The node is back, but the node that contained or presented it does not do so any
  /// more; the next save leaves it out, unless it is ``kept``.
  case notContained

  /// The stored keys that nobody asked for: they are read under another spelling, or in
  /// a hook that is never called.
  ///
  /// Neither the node's factory nor its decoding asked for them; of the application,
  /// neither the gate nor the delegate's `didDecodeRestorableState`, if there is a
  /// delegate. A key in a container has the container's key and a dot before it. The
  /// next save drops these values, unless they are written again. If a key is not
  /// needed any more, remove it with a migration, or ask for it with
  /// ``StateDecoder/contains(_:)``.
  case unreadKeys([String])

  /// The stored value of a field of `restorableState` does not fit, so the field keeps
  /// the value from before the restore. The error says where, in keys, and which type
  /// is missing there.
  ///
  /// The next save sets the stored state aside. Bring the field to its new type with a
  /// migration; see <doc:versions>.
  case fieldReplaced(key: String, String)

  // MARK: No problems

  /// The fields of `restorableState` that are not stored, and so keep their values from
  /// before the restore; a field in another has the name of that one and a dot before it.
  ///
  /// The note is no problem, since each new version of an app may add fields. But if a field
  /// is stored in the same place that the state does not have any more, the missing one may
  /// be that field under a new name: then the next save sets the stored state aside.
  case missingFields([String])

  /// The state was migrated from the version that it was stored with.
  case migrated(from: Int)

  /// Saves write the element as it is stored, while its parent is saved and within the
  /// ``StatePolicy/keptBound``. The element is not back, or its parent could not be
  /// decoded and so did not take it.
  case kept

  /// Beside the state of the element another one is kept as it was stored, with its
  /// version and the time since when. This version of the app or an earlier one could
  /// not read that state, or restoring it crashed.
  case keptBeside(version: Int, since: Date?)

  /// The stored state of the element could not be read and was kept since then. It was
  /// kept for longer, or is larger, than the ``StatePolicy/keptBound`` allows, so now
  /// the new state replaces it.
  case keptStateDropped(since: Date, byteCount: Int)
}

extension ReportNote {
  /// Whether the developer should mend the cause of the note.
  public var isProblem: Bool { problem != nil }

  /// Whether a save with the note has not stored something that the app has.
  var isLoss: Bool {
    switch self {
    case .encodeFailed, .willEncodeFailed, .rootWithoutIdentifier, .identifierTooLong: true
    default: false
    }
  }
}

extension ReportNote: CustomStringConvertible {
  /// For a problem, what is wrong and how to mend it; for another note, a few words
  /// that follow the outcome.
  public var description: String { problem ?? fact }

  private var problem: String? { problemOfSave ?? problemOfRestore }

  private var problemOfSave: String? {
    switch self {
    case .encodeFailed(let error): "Encoding threw, so the node has no new state: \(error)"
    case .willEncodeFailed(let error):
      "willEncodeRestorableState threw, so what it encoded is missing: \(error)"
    case .rootWithoutIdentifier:
      "It is a root without restoration identifier, so nothing of it is saved. Give it one, or an"
        + " empty one if that is meant."
    case .identifierTooLong(let byteCount):
      "The identifier has \(byteCount) bytes. Use up to \(ArchiveLimits.standard.keyByteCount)."
    case .referenceWithoutIdentifier(let key, let className):
      "The key “\(key)” refers to a \(className) without restoration identifier."
        + " Give it one, or register it with keeper.registerObject."
    case .referenceToUnpreservedView(let key):
      "The key “\(key)” refers to a view of no node that is preserved. Let a node have it among"
        + " its restorationViews."
    case .notRestoredBefore:
      "The save came before any restore, so what was stored is set aside. Call restore(into:) at"
        + " launch, before the first save."
    case .otherKeeper(let name):
      "Another keeper of this process has the state \(name). Make one keeper for it and pass that on,"
        + " or call close() of the other one first."
    case .restorationClassNotRegistered(let name):
      "The restoration class \(name) is not registered."
        + " Call keeper.register(restorationClass: \(name).self)."
    case .unreadable(let error):
      "What was stored could not be read, and is set aside: \(error)"
    case .notInvalidated:
      "It has changed and did not say so. Call invalidateRestorableState() after each change, or"
        + " let its stateTracking be .always."
    default: nil
    }
  }

  private var problemOfRestore: String? {
    switch self {
    case .didDecodeFailed(let error): "didDecodeRestorableState threw: \(error)"
    case .notContained:
      "The node above it does not contain it. Take it from coder.restoredChildren or"
        + " restoredPresented: the next save leaves it out, unless it is kept."
    case .givenRootNotUsed:
      "The root that was passed in for it was not used: it keeps its defaults, and a save of it"
        + " stores those. Return that root where this one is made, or pass none."
    case .unreadKeys(let keys):
      "Nobody read what is stored under \(Self.list(keys)). Compare how the key and the hook are"
        + " spelled."
    case .fieldReplaced(let key, let error):
      "The stored “\(key)” does not fit, so it is as it was before. Migrate it to its new type; the"
        + " next save sets the stored state aside. (\(error))"
    default: nil
    }
  }

  private var fact: String {
    switch self {
    case .missingFields(let keys): "not stored, so as they were before: \(Self.list(keys))"
    case .migrated(let version): "migrated from version \(version)"
    case .kept: "saves keep it as it is stored, until a node is saved in its place"
    case .keptBeside(let version, let since):
      "beside its state one of version \(version) is kept as it was stored"
        + (since.map { ", since \($0)" } ?? "")
    case .keptStateDropped(let since, let byteCount):
      "the state that could not be read, kept since \(since), is dropped with its \(byteCount) bytes"
    default: ""
    }
  }

  private static func list(_ keys: [String]) -> String {
    keys.map { "“\($0)”" }.joined(separator: ", ")
  }
}

extension [OtherInstance] {
  /// The note of a second keeper in this process, which is a mistake: a second instance of an app is
  /// another process.
  func otherKeeper(_ nameInUse: String?) -> ReportNote? {
    let other = first { $0.process == ArchiveError.thisProcess }
    return (nameInUse ?? other?.stateName).map { .otherKeeper(stateName: $0) }
  }
}
