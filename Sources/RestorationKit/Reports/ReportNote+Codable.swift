extension ReportNote {
  private var coded: CodedCase.Content {
    switch self {
    case .encodeFailed(let text): ("encodeFailed", ["_0": text])
    case .willEncodeFailed(let text): ("willEncodeFailed", ["_0": text])
    case .rootWithoutIdentifier: ("rootWithoutIdentifier", [:])
    case .identifierTooLong(let byteCount): ("identifierTooLong", ["byteCount": byteCount])
    case .referenceWithoutIdentifier(let key, let className):
      ("referenceWithoutIdentifier", ["key": key, "className": className])
    case .referenceToUnpreservedView(let key): ("referenceToUnpreservedView", ["key": key])
    case .coderKept(let key): ("coderKept", ["key": key])
    case .coderKeptAfterSave(let path, let key): ("coderKeptAfterSave", ["_0": path, "key": key])
    case .notRestoredBefore: ("notRestoredBefore", [:])
    case .otherKeeper(let stateName): ("otherKeeper", ["stateName": stateName])
    case .aboveGap(let path): ("aboveGap", ["_0": path])
    case .restorationClassNotRegistered(let text): ("restorationClassNotRegistered", ["_0": text])
    case .notInvalidated: ("notInvalidated", [:])
    case .identifierShadowed: ("identifierShadowed", [:])
    case .valueUsedTooEarly(let key): ("valueUsedTooEarly", ["key": key])
    case .valueWithoutKey(let declaredAt): ("valueWithoutKey", ["declaredAt": declaredAt])
    case .valueOfAnotherScene(let key): ("valueOfAnotherScene", ["key": key])
    case .fieldsNotFound(let className): ("fieldsNotFound", ["className": className])
    case .fieldKeyTwice(let key): ("fieldKeyTwice", ["key": key])
    case .screenNotReached(let className): ("screenNotReached", ["className": className])
    case .rootsMadeAnew(let texts): ("rootsMadeAnew", ["_0": texts])
    case .valueIsObject(let key, let className):
      ("valueIsObject", ["key": key, "className": className])
    case .valueSetAfterEnd(let key): ("valueSetAfterEnd", ["key": key])
    case .secondInstance(let stateName, let others):
      ("secondInstance", ["stateName": stateName, "others": others])
    case .tabNotSelected: ("tabNotSelected", [:])
    case .undeclaredActivityType(let text): ("undeclaredActivityType", ["_0": text])
    case .invalidActivity(let text): ("invalidActivity", ["_0": text])
    case .activityEncodingFailed(let text, let other):
      ("activityEncodingFailed", ["_0": text, "_1": other])
    case .userInfoEncodingFailed(let key, let text):
      ("userInfoEncodingFailed", ["key": key, "_1": text])
    case .requiredKeysMissing(let texts): ("requiredKeysMissing", ["_0": texts])
    case .largeActivity(let byteCount, let limit):
      ("largeActivity", ["byteCount": byteCount, "limit": limit])
    case .storageTypeMismatch(let key, let text): ("storageTypeMismatch", ["key": key, "_1": text])
    case .storageEncodingFailed(let key, let text):
      ("storageEncodingFailed", ["key": key, "_1": text])
    case .unreadable(let text): ("unreadable", ["_0": text])
    case .hostDelegateGone: ("hostDelegateGone", [:])
    case .didDecodeFailed(let text): ("didDecodeFailed", ["_0": text])
    case .applicationKept(let text): ("applicationKept", ["_0": text])
    case .givenRootNotUsed: ("givenRootNotUsed", [:])
    case .notContained: ("notContained", [:])
    case .lastState: ("lastState", [:])
    case .unreadKeys(let texts): ("unreadKeys", ["_0": texts])
    case .unreadableValues(let texts): ("unreadableValues", ["_0": texts])
    case .fieldReplaced(let key, let text): ("fieldReplaced", ["key": key, "_1": text])
    case .missingFields(let texts): ("missingFields", ["_0": texts])
    case .detached: ("detached", [:])
    case .keptBecause(let outcome): ("keptBecause", ["_0": outcome])
    case .unusedInheritedHooks: ("unusedInheritedHooks", [:])
    case .migrated(let from): ("migrated", ["from": from])
    case .kept: ("kept", [:])
    case .keptBeside(let version, let since): ("keptBeside", ["version": version, "since": since])
    case .keptStateDropped(let since, let byteCount):
      ("keptStateDropped", ["since": since, "byteCount": byteCount])
    case .expiredValues(let texts): ("expiredValues", ["_0": texts])
    case .forgottenSecrets(let texts): ("forgottenSecrets", ["_0": texts])
    }
  }

  /// The name of the case, without its values.
  var name: String { coded.name }

  /// Writes the name of the case, with its values under their labels.
  public func encode(to encoder: any Encoder) throws {
    try CodedCase.encode(coded, to: encoder)
  }

  /// Reads a case from ``encode(to:)``.
  public init(from decoder: any Decoder) throws {
    let stored = try CodedCase(from: decoder)
    switch stored.name {
    case "encodeFailed": self = .encodeFailed(try stored.value("_0"))
    case "willEncodeFailed": self = .willEncodeFailed(try stored.value("_0"))
    case "rootWithoutIdentifier": self = .rootWithoutIdentifier
    case "identifierTooLong": self = .identifierTooLong(byteCount: try stored.value("byteCount"))
    case "referenceWithoutIdentifier":
      self = .referenceWithoutIdentifier(
        key: try stored.value("key"), className: try stored.value("className"))
    case "referenceToUnpreservedView":
      self = .referenceToUnpreservedView(key: try stored.value("key"))
    case "coderKept": self = .coderKept(key: try stored.value("key"))
    case "coderKeptAfterSave":
      self = .coderKeptAfterSave(try stored.value("_0"), key: try stored.value("key"))
    case "notRestoredBefore": self = .notRestoredBefore
    case "otherKeeper": self = .otherKeeper(stateName: try stored.value("stateName"))
    case "aboveGap": self = .aboveGap(try stored.value("_0"))
    case "restorationClassNotRegistered":
      self = .restorationClassNotRegistered(try stored.value("_0"))
    case "notInvalidated": self = .notInvalidated
    case "identifierShadowed": self = .identifierShadowed
    case "valueUsedTooEarly": self = .valueUsedTooEarly(key: try stored.value("key"))
    case "valueWithoutKey": self = .valueWithoutKey(declaredAt: try stored.value("declaredAt"))
    case "valueOfAnotherScene": self = .valueOfAnotherScene(key: try stored.value("key"))
    case "fieldsNotFound": self = .fieldsNotFound(className: try stored.value("className"))
    case "fieldKeyTwice": self = .fieldKeyTwice(key: try stored.value("key"))
    case "screenNotReached": self = .screenNotReached(className: try stored.value("className"))
    case "rootsMadeAnew": self = .rootsMadeAnew(try stored.value("_0"))
    case "valueIsObject":
      self = .valueIsObject(
        key: try stored.value("key"), className: try stored.value("className"))
    case "valueSetAfterEnd": self = .valueSetAfterEnd(key: try stored.value("key"))
    case "secondInstance":
      self = .secondInstance(
        stateName: try stored.value("stateName"), others: try stored.value("others"))
    case "tabNotSelected": self = .tabNotSelected
    case "undeclaredActivityType": self = .undeclaredActivityType(try stored.value("_0"))
    case "invalidActivity": self = .invalidActivity(try stored.value("_0"))
    case "activityEncodingFailed":
      self = .activityEncodingFailed(try stored.value("_0"), try stored.value("_1"))
    case "userInfoEncodingFailed":
      self = .userInfoEncodingFailed(key: try stored.value("key"), try stored.value("_1"))
    case "requiredKeysMissing": self = .requiredKeysMissing(try stored.value("_0"))
    case "largeActivity":
      self = .largeActivity(
        byteCount: try stored.value("byteCount"), limit: try stored.value("limit"))
    case "storageTypeMismatch":
      self = .storageTypeMismatch(key: try stored.value("key"), try stored.value("_1"))
    case "storageEncodingFailed":
      self = .storageEncodingFailed(key: try stored.value("key"), try stored.value("_1"))
    case "unreadable": self = .unreadable(try stored.value("_0"))
    case "hostDelegateGone": self = .hostDelegateGone
    case "didDecodeFailed": self = .didDecodeFailed(try stored.value("_0"))
    case "applicationKept": self = .applicationKept(try stored.value("_0"))
    case "givenRootNotUsed": self = .givenRootNotUsed
    case "notContained": self = .notContained
    case "lastState": self = .lastState
    case "unreadKeys": self = .unreadKeys(try stored.value("_0"))
    case "unreadableValues": self = .unreadableValues(try stored.value("_0"))
    case "fieldReplaced":
      self = .fieldReplaced(key: try stored.value("key"), try stored.value("_1"))
    case "missingFields": self = .missingFields(try stored.value("_0"))
    case "detached": self = .detached
    case "keptBecause": self = .keptBecause(try stored.value("_0"))
    case "unusedInheritedHooks": self = .unusedInheritedHooks
    case "migrated": self = .migrated(from: try stored.value("from"))
    case "kept": self = .kept
    case "keptBeside":
      self = .keptBeside(
        version: try stored.value("version"), since: try stored.valueIfPresent("since"))
    case "keptStateDropped":
      self = .keptStateDropped(
        since: try stored.value("since"), byteCount: try stored.value("byteCount"))
    case "expiredValues": self = .expiredValues(try stored.value("_0"))
    case "forgottenSecrets": self = .forgottenSecrets(try stored.value("_0"))
    default: throw stored.isUnknown(to: Self.self)
    }
  }
}
