internal import ArchiveCodec
public import RestorationFoundation

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

  /// Another keeper of this process has the state, so this one has a state with a number,
  /// or none with ``InstancePolicy/single``. The note is also in reports of restores.
  case otherKeeper(stateName: String)

  /// In a stack, the node lies above a node that is not saved; the restored stack will
  /// have it without that node.
  case aboveGap(RestorationPath)

  /// The restoration class is not registered, so a restore will not find it.
  case restorationClassNotRegistered(String)

  /// The object has changed without saying so. Only a save that asks everything, as
  /// this one, stores a change like that. Call
  /// ``StateRestoring/invalidateRestorableState()`` after each change.
  case notInvalidated

  /// The node declares an identifier that is not used, so the node is saved under the
  /// name of its class.
  ///
  /// The class that conforms to ``StatefulNode`` declares no identifier, so its nodes
  /// have the names of their classes; a `restorationIdentifier` that a subclass
  /// declares is another property. The library finds only stored properties.
  case identifierShadowed

  // MARK: Problems of restored values

  /// A value was read or set before the restore, so early readers got the value of its
  /// declaration. Now the value is the stored one.
  case valueUsedTooEarly(key: String)

  /// A value has no key and is no field of a ``RestorableScreen``, so nothing stores it.
  case valueWithoutKey(declaredAt: String)

  /// A value belongs to the scene below which it was first used, but was used below
  /// another one. That happens to static values.
  case valueOfAnotherScene(key: String)

  /// Fields with ``Restored`` cannot be found in a class, so they are not stored.
  case fieldsNotFound(className: String)

  /// Two fields of a screen have the same key, so only one of them is stored.
  case fieldKeyTwice(key: String)

  /// A field of a screen was set, and no root leads to the screen, so it is not stored.
  case screenNotReached(className: String)

  /// The closure or delegate that gives the roots has made new ones twice in a row, so saves store
  /// defaults.
  case rootsMadeAnew([String])

  /// A value is an object, or holds some: a change within an object is not seen.
  case valueIsObject(key: String, className: String)

  /// A value was set after the end, so it is not stored.
  case valueSetAfterEnd(key: String)

  /// Another instance of the app has the state, so this one has a state with a number.
  case secondInstance(stateName: String, others: String)

  // MARK: Problems of a scene

  /// An activity has a type that the host does not declare, so it is not stored.
  case undeclaredActivityType(String)

  /// An activity was ended before it could be stored.
  case invalidActivity(String)

  /// An activity could not be encoded, so it is not stored.
  case activityEncodingFailed(String, String)

  /// A value of a session's user info could not be encoded, so it was removed.
  case userInfoEncodingFailed(key: String, String)

  /// The user info of an activity lacks keys that it says it needs.
  case requiredKeysMissing([String])

  /// An activity takes more bytes than activities should.
  case largeActivity(byteCount: Int, limit: Int)

  /// A stored value has another type than the caller asked for.
  case storageTypeMismatch(key: String, String)

  /// A value could not be encoded.
  case storageEncodingFailed(key: String, String)

  /// The stored content of a session could not be read; the error is given.
  case unreadable(String)

  /// The host's delegate is gone, so the defaults stand for its answers.
  case hostDelegateGone

  // MARK: Problems of a restore

  /// The delegate's `didDecodeRestorableState` threw.
  case didDecodeFailed(String)

  /// The restore was given a root, but another object was made at its path, or none.
  /// The given root keeps its defaults.
  case givenRootNotUsed

  /// The node is back, but the node that contained or presented it does not do so any
  /// more; the next save leaves it out, unless it is ``kept``.
  case notContained

  /// The state comes from an earlier save than the others, because later ones could not
  /// encode it.
  case lastState

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

  /// The tab was selected when the state was saved, and is not selected now: another one was
  /// selected after the restore and before this tab came.
  case tabNotSelected

  /// The fields of `restorableState` that are not stored, and so keep their values from
  /// before the restore; a field in another has the name of that one and a dot before it.
  ///
  /// The note is no problem, since each new version of an app may add fields. But if a field
  /// is stored in the same place that the state does not have any more, the missing one may
  /// be that field under a new name: then the next save sets the stored state aside.
  case missingFields([String])

  /// The node was saved as a root of its own, because a node above that contains it was left out.
  case detached

  /// The outcome of the element in the restore, if the element is saved as it was stored.
  case keptBecause(RestorationReport.NodeOutcome)

  /// The class of the object has inherited its conformance, and nobody used the coder.
  ///
  /// Hooks that only a subclass implements, without `override`, are never called: the
  /// base class must implement them, too. The note is no problem, since the class may
  /// have nothing to save.
  case unusedInheritedHooks

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

  /// The delegate keeps the stored state of the application for later and said why, so the next save sets the
  /// whole state aside; see ``StateDecoder/keep(because:)``.
  case applicationKept(String)
}

extension ReportNote {
  /// Whether the developer should mend the cause of the note.
  public var isProblem: Bool {
    switch self {
    case .missingFields, .detached, .keptBecause, .unusedInheritedHooks, .migrated, .kept,
      .keptBeside, .keptStateDropped, .applicationKept, .tabNotSelected:
      false
    case .encodeFailed, .willEncodeFailed,
      .rootWithoutIdentifier, .identifierTooLong,
      .referenceWithoutIdentifier, .referenceToUnpreservedView, .notInvalidated,
      .notRestoredBefore, .aboveGap, .restorationClassNotRegistered,
      .undeclaredActivityType, .invalidActivity, .activityEncodingFailed, .userInfoEncodingFailed,
      .requiredKeysMissing, .largeActivity, .storageTypeMismatch, .storageEncodingFailed,
      .unreadable, .hostDelegateGone, .didDecodeFailed, .notContained, .lastState, .unreadKeys,
      .givenRootNotUsed, .otherKeeper, .fieldReplaced, .identifierShadowed,
      .valueUsedTooEarly, .valueWithoutKey, .valueOfAnotherScene, .fieldsNotFound, .fieldKeyTwice,
      .screenNotReached, .rootsMadeAnew, .valueIsObject, .valueSetAfterEnd, .secondInstance:
      true
    }
  }
}

extension ReportNote {
  /// Whether a save with the note has not stored something that the app has.
  var isLoss: Bool {
    switch self {
    case .encodeFailed, .willEncodeFailed, .rootWithoutIdentifier, .identifierTooLong,
      .fieldsNotFound, .fieldKeyTwice, .storageEncodingFailed,
      .undeclaredActivityType, .invalidActivity, .activityEncodingFailed, .userInfoEncodingFailed:
      true
    default: false
    }
  }

  /// Whether a list that has the other note needs this one no more.
  ///
  /// A value that cannot be encoded may give another reason each time.
  func repeats(_ other: ReportNote) -> Bool {
    if case .storageEncodingFailed(let key, _) = self,
      case .storageEncodingFailed(key, _) = other
    {
      return true
    }
    return self == other
  }
}

extension ReportNote: CustomStringConvertible {
  /// For a problem, what is wrong and how to mend it; for another note, a few words
  /// that follow the outcome.
  public var description: String {
    switch self {
    case .encodeFailed(let error):
      "Encoding threw, so the node has no new state: \(error)"
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
    case .aboveGap(let path):
      "It lies on “\(path.phrase)”, which is not preserved, so it will lie on what is below that. Give"
        + " that node an identifier of its own."
    case .restorationClassNotRegistered(let name):
      "The restoration class \(name) is not registered."
        + " Call keeper.register(restorationClass: \(name).self)."
    case .notInvalidated:
      "It has changed and did not say so. Call invalidateRestorableState() after each change, or"
        + " let its stateTracking be .always."
    case .undeclaredActivityType(let type):
      "The activity type “\(type)” is not declared, so the activity is not stored."
        + " Add it to the host's declaredActivityTypes."
    case .invalidActivity(let type):
      "The activity “\(type)” was invalidated, so it is not stored. Return one that is valid."
    case .activityEncodingFailed(let type, let error):
      "The activity “\(type)” cannot be encoded, so it is not stored: \(error)"
    case .userInfoEncodingFailed(let key, let error):
      "The value of “\(key)” in the session's user info cannot be encoded, so it was removed:"
        + " \(error)"
    case .requiredKeysMissing(let keys):
      "The activity's user info lacks \(keys.joined(separator: ", ")), which it requires."
    case .largeActivity(let byteCount, let limit):
      "The activity takes \(byteCount) bytes, more than \(limit). Store identifiers, not content."
    case .storageTypeMismatch(let key, let error):
      "The value of “\(key)” is not of the type that was asked for, so its default was used:"
        + " \(error)"
    case .storageEncodingFailed(let key, let error):
      "The value of “\(key)” cannot be encoded, so the stored one stays: \(error)"
    case .unreadable(let error):
      "What is stored was not restored: \(error)"
    case .hostDelegateGone:
      "The host's delegate is gone. Keep it alive, or set it to nil to go on without one."
    case .didDecodeFailed(let error):
      "didDecodeRestorableState threw: \(error)"
    case .applicationKept(let reason):
      "the state of the application is kept for later, and set aside by the next save: \(reason)"
    case .notContained:
      "The node above it does not contain it. Take it from coder.restoredChildren or"
        + " restoredPresented: the next save leaves it out, unless it is kept."
    case .givenRootNotUsed:
      "The root that was passed in for it was not used: it keeps its defaults, and a save of it"
        + " stores those. Return that root where this one is made, or pass none."
    case .lastState:
      "The state is that of an earlier save, since later ones could not be stored."
    case .unreadKeys(let keys):
      "Nobody read what is stored under \(Self.list(keys))."
        + " Compare how the key and the hook are spelled."
    case .identifierShadowed:
      "Its restorationIdentifier is not used, so it is saved under the name of its class. Let the"
        + " class that conforms to StatefulNode declare it as a String, and its class override it."
    case .valueUsedTooEarly(let key):
      "The value “\(key)” was used before the restore. Call Restoration.begin before anything reads"
        + " or sets it."
    case .valueWithoutKey(let place):
      "The value that is declared at \(place) has no key, so it is not stored. Give it one, or make"
        + " it a field of a class that conforms to RestorableScreen."
    case .valueOfAnotherScene(let key):
      "The value “\(key)” is used below two scenes and belongs to the first of them. Make it a"
        + " RestoredValue if it belongs to the app, or declare it in a type that is made for each scene."
    case .fieldsNotFound(let className):
      "The fields of \(className) cannot be found, so those with @Restored are not stored. Compile"
        + " its module with reflection metadata."
    case .fieldKeyTwice(let key):
      "Two fields have the key “\(key)”, so only one of them is stored. Give one of them another key."
    case .fieldReplaced(let key, let error):
      "The stored “\(key)” does not fit, so it is as it was before. Migrate it to its new type; the"
        + " next save sets the stored state aside. (\(error))"
    case .screenNotReached(let className):
      "A field of a \(className) was set, and no root leads to it, so it is not stored. Return it from"
        + " the roots of Restoration.begin, or contain it in a screen that is returned there."
    case .rootsMadeAnew(let names):
      "The roots \(Self.list(names)) are other objects each time, so what the user does in the ones"
        + " before is not stored. Make them once, and return the same ones."
    case .valueIsObject(let key, let className):
      "The value “\(key)” is or has a \(className), which is a class, so a change within it is not seen"
        + " and not stored. Make it a struct, or set another object after each change."
    case .valueSetAfterEnd(let key):
      "The value “\(key)” was set after the end of Restoration, so it is not stored. Set it before."
    case .secondInstance(let stateName, let others):
      "Another instance of the app runs: \(others). So this one has the state \(stateName), and does"
        + " not show what the other one saves. End the other one, and launch again, to see its state."
    case .missingFields(let keys): "not stored, so as they were before: \(Self.list(keys))"
    case .tabNotSelected: "it was selected, and another one has been selected since the restore"
    case .detached: "detached, since a node above it is left out"
    case .keptBecause(let outcome): "at the restore: \(outcome)"
    case .unusedInheritedHooks:
      "nothing was encoded: if its class has something to save, let the class that conforms"
        + " implement encodeRestorableState, and its class override it"
    case .migrated(let version): "migrated from version \(version)"
    case .kept: "saves keep it as it is stored, until a node is saved in its place"
    case .keptBeside(let version, let since):
      "beside its state one of version \(version) is kept as it was stored"
        + (since.map { ", since \($0)" } ?? "")
    case .keptStateDropped(let since, let byteCount):
      "the state that could not be read, kept since \(since), is dropped with its \(byteCount) bytes"
    }
  }

  private static func list(_ keys: [String]) -> String {
    keys.map { "“\($0)”" }.joined(separator: ", ")
  }
}

extension ReportNote {
  /// The key of the value that the note is about; nil if it has none.
  var valueKey: String? {
    switch self {
    case .storageTypeMismatch(let key, _), .storageEncodingFailed(let key, _),
      .valueUsedTooEarly(let key), .valueOfAnotherScene(let key), .fieldReplaced(let key, _),
      .valueIsObject(let key, _), .valueSetAfterEnd(let key):
      key
    default: nil
    }
  }

  /// The note for a field of a value that has a key itself.
  func ofField(in key: String) -> ReportNote {
    switch self {
    case .fieldReplaced(let field, let error): .fieldReplaced(key: "\(key).\(field)", error)
    case .missingFields(let fields): .missingFields(fields.map { "\(key).\($0)" })
    default: self
    }
  }
}
