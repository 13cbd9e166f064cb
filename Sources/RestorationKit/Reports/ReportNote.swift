internal import ArchiveCodec
public import RestorationFoundation

/// A fact that a report says of an element, beside its outcome.
///
/// Some notes are problems: each says what the developer should mend.
public enum ReportNote: Hashable, Sendable {
  // MARK: Problems of a save

  /// The element's encoding threw, or the delegate's `willEncodeRestorableState`; the error is given
  /// in its own words.
  case encodeFailed(String)

  /// A root has no identifier, so nothing of the root is saved.
  case rootWithoutIdentifier

  /// The identifier is longer than the format's keys, so the element is left out.
  case identifierTooLong(byteCount: Int)

  /// A reference names a node or view that has no identifier, an object that was not registered, or
  /// a view of no node that is preserved.
  case referenceNotStored(key: String, className: String)

  /// The save came before any restore, so it has kept the stored state in the history.
  case notRestoredBefore

  /// The restore could not read the stored state, for the given reason, so the save has kept it in the history.
  case unreadable(String)

  /// Another keeper of this process has the state, so this one has a state with a number,
  /// or none with ``StatePolicy/isSingleInstance``. The note is also in reports of restores.
  case otherKeeper(stateName: String)

  /// The restoration class is not registered, so a restore will not find it.
  case restorationClassNotRegistered(String)

  /// The object has changed without saying so. Only a save of a test, as this one, asks every object and
  /// stores a change like that. Call ``StateRestoring/invalidateRestorableState()`` after each change.
  case notInvalidated

  // MARK: Problems of values

  /// A value was read or set before the restore, so early readers got the value of its
  /// declaration. Now the value is the stored one.
  case valueUsedTooEarly(key: String)

  /// A value has no key and is no field of a ``RestorableScreen``, so nothing stores it.
  case valueWithoutKey(declaredAt: String)

  /// A value belongs to the scene below which it was first used, but was used below
  /// another one. That happens to static values.
  case valueOfAnotherScene(key: String)

  /// A value was set after the end, so it is not stored.
  case valueSetAfterEnd(key: String)

  /// A stored value has another type than the app asked for.
  case storageTypeMismatch(key: String, String)

  /// A value could not be encoded.
  case storageEncodingFailed(key: String, String)

  /// Fields with ``Restored`` cannot be found in a class, so they are not stored.
  case fieldsNotFound(className: String)

  /// Two fields of a screen have the same key, so only one of them is stored.
  case fieldKeyTwice(key: String)

  /// A field of a screen was set, and no root leads to the screen, so it is not stored.
  case screenNotReached(className: String)
  /// The window's activity is not stored, for the given reason.
  case activityNotStored(String, String)

  /// The window's activity is stored without keys that it names as required.
  case requiredKeysMissing([String])

  /// A value of the session's user info is not stored, for the given reason.
  case userInfoNotStored(key: String, String)

  // MARK: Problems of a restore

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
  /// delegate. A container that was opened counts as read. The next save drops these
  /// values, unless they are written again. If a key is not
  /// needed any more, remove it with a migration, or ask for it with
  /// ``StateDecoder/contains(_:)``.
  case unreadKeys([String])

  /// The stored value of a field of `restorableState` does not fit, so the field keeps
  /// the value from before the restore. The error says where, in keys, and which type
  /// is missing there.
  ///
  /// What is stored stays until a save replaces it, and then beside that. Bring the field to its new type
  /// with a migration; see <doc:versions>.
  case fieldReplaced(key: String, String)

  // MARK: No problems

  /// The fields of `restorableState` that are not stored, and so keep their values from
  /// before the restore; a field in another has the name of that one and a dot before it.
  ///
  /// The note is no problem, since each new version of an app may add fields. But if a field
  /// is stored in the same place that the state does not have any more, the missing one may
  /// be that field under a new name: then the next save keeps the stored state beside the new one.
  case missingFields([String])

  /// The state was migrated from the version that it was stored with.
  case migrated(from: Int)

  /// Saves leave the element as it is stored, while its parent is saved and within
  /// ``StatePolicy/keptAge`` and ``StatePolicy/keptByteCount``. The element is not back, or its parent could
  /// not be decoded and so did not take it.
  case kept

  /// The stored state of the element could not be read and was kept since then. It was
  /// kept for longer than ``StatePolicy/keptAge``, or is larger than ``StatePolicy/keptByteCount``, so it is
  /// stored no more.
  case keptStateDropped(since: Date, byteCount: Int)
}

extension ReportNote: CustomStringConvertible {
  /// Whether the developer should mend the cause of the note.
  public var isProblem: Bool {
    switch self {
    case .missingFields, .migrated, .kept, .keptStateDropped: false
    default: true
    }
  }

  /// Whether a list that has the note needs another one no more.
  ///
  /// A value that cannot be encoded may give another reason each time.
  func repeats(_ other: ReportNote) -> Bool {
    guard case .storageEncodingFailed(let key, _) = self else { return self == other }
    guard case .storageEncodingFailed(key, _) = other else { return false }
    return true
  }

  /// Whether a save with the note has not stored something that the app has.
  var isLoss: Bool {
    switch self {
    case .encodeFailed, .rootWithoutIdentifier, .identifierTooLong: true
    case .fieldsNotFound, .fieldKeyTwice, .storageEncodingFailed: true
    case .activityNotStored, .userInfoNotStored: true
    default: false
    }
  }

  /// For a problem, what is wrong and how to mend it; for another note, a few words
  /// that follow the outcome.
  public var description: String {
    switch self {
    case .encodeFailed(let error): "Encoding threw, so nothing new is stored of it: \(error)"
    case .rootWithoutIdentifier:
      "It is a root without restoration identifier, so it is not saved. Give it one, or an empty one."
    case .identifierTooLong(let byteCount):
      "The identifier has \(byteCount) bytes. Use up to \(ArchiveLimits.standard.keyByteCount)."
    case .referenceNotStored(let key, let className):
      "The key “\(key)” refers to a \(className) that is not stored. Give it a restoration identifier,"
        + " register it with keeper.registerObject, or let a node have it among its restorationViews."
    case .notRestoredBefore:
      "The save came before any restore, so what was stored is set aside. Call restore(into:) at"
        + " launch, before the first save."
    case .unreadable(let error): "What was stored could not be read, and is set aside: \(error)"
    case .otherKeeper(let name):
      "Another keeper of this process has the state \(name). Make one keeper for it and pass that on,"
        + " or call close() of the other one first."
    case .restorationClassNotRegistered(let name):
      "\(name) is not registered. Call keeper.register(restorationClass: \(name).self)."
    case .notInvalidated:
      "It has changed and did not say so. Call invalidateRestorableState() after each change."
    default: ofValue ?? ofRestore
    }
  }

  /// What is wrong with a value or an activity.
  private var ofValue: String? {
    switch self {
    case .valueUsedTooEarly(let key):
      "The value “\(key)” was used before the restore. Call Restoration.begin before anything reads"
        + " or sets it."
    case .valueWithoutKey(let place):
      "The value that is declared at \(place) has no key, so it is not stored. Give it one, or make"
        + " it a field of a class that conforms to RestorableScreen."
    case .valueOfAnotherScene(let key):
      "The value “\(key)” is used below two scenes and belongs to the first of them. Make it a"
        + " RestoredValue if it belongs to the app, or declare it in a type that is made for each scene."
    case .valueSetAfterEnd(let key):
      "The value “\(key)” was set after the end of Restoration, so it is not stored. Set it before."
    case .storageTypeMismatch(let key, let error):
      "The value of “\(key)” is not of the type that was asked for, so its default was used: \(error)"
    case .storageEncodingFailed(let key, let error):
      "The value of “\(key)” cannot be encoded, so the stored one stays: \(error)"
    case .fieldsNotFound(let className):
      "The fields of \(className) cannot be found, so those with @Restored are not stored. Compile"
        + " its module with reflection metadata."
    case .fieldKeyTwice(let key):
      "Two fields have the key “\(key)”, so only one of them is stored. Give one of them another key."
    case .screenNotReached(let className):
      "A field of a \(className) was set, and no root leads to it, so it is not stored. Return it from"
        + " the roots of Restoration.begin, or contain it in a screen that is returned there."
    case .activityNotStored(let type, let reason):
      "The activity “\(type)” is not stored: \(reason)"
    case .requiredKeysMissing(let keys):
      "The activity is stored without \(keys.quoted), which it requires. Set them in its userInfo."
    case .userInfoNotStored(let key, let reason):
      "The user info “\(key)” cannot be stored: \(reason)"
    default: nil
    }
  }

  /// What a restore says of an element.
  private var ofRestore: String {
    switch self {
    case .givenRootNotUsed:
      "The root that was passed in for it was not used: it keeps its defaults, and a save of it"
        + " stores those. Return that root where this one is made, or pass none."
    case .notContained:
      "The node above it does not contain it. Take it from coder.restoredChildren or in"
        + " restorePresented(_:): the next save leaves it out, unless it is kept."
    case .unreadKeys(let keys):
      "Nobody read what is stored under \(keys.quoted). Compare how the key and the hook are"
        + " spelled."
    case .fieldReplaced(let key, let error):
      "The stored “\(key)” does not fit, so it is as it was before. Migrate it to its new type; the"
        + " next save sets the stored state aside. (\(error))"
    case .missingFields(let keys): "not stored, so as they were before: \(keys.quoted)"
    case .migrated(let version): "migrated from version \(version)"
    case .kept: "saves keep it as it is stored, until a node is saved in its place"
    case .keptStateDropped(let since, let byteCount):
      "the state that could not be read, kept since \(since), is dropped with its \(byteCount) bytes"
    default: ""
    }
  }
}

extension [String] {
  fileprivate var quoted: String { map { "“\($0)”" }.joined(separator: ", ") }
}
