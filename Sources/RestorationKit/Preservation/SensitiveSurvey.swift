internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The values with a sensitivity, which lie beside the state of a record: a save writes them here,
/// and notes for later saves what is known of them.
final class SensitiveSurvey {
  private let rows: Rows
  private let objects: ObjectTable
  private let secrets: SecretKeys
  /// See ``SecretUse/clearCount``.
  private let clearCount: Int
  /// When the save began.
  private let now: Date
  /// The subkeys that were made in this walk.
  private var madeSubkeys: Set<UInt64> = []
  /// The findings of this walk, by row; nil stands for the application.
  ///
  /// The rows and the ages take them when the walk has come to its end.
  private var found: [RowNumber?: Finding] = [:]
  /// The elements that objects with known values have left in this walk.
  private var left: Set<ElementID> = []

  private struct Finding {
    var use: RowSensitivity?
    /// What the object has said of its values; nil if it was not asked for this.
    var said: Said?

    struct Said {
      let object: (any StateRestoring)?
      let element: ElementID
      /// The ages of the values; nil if there were none before either.
      let ages: [[String]: ValueAges.Known]?
    }
  }

  init(_ rows: Rows, _ objects: ObjectTable, _ secrets: SecretKeys, now: Date) {
    (self.rows, self.objects, self.secrets, self.now) = (rows, objects, secrets, now)
    clearCount = secrets.clearCount
  }

  /// Finds the values that have ended since the last save.
  func begin(_ kept: KeptRecords?) {
    guard !rows.sensitive.uses.isEmpty || !objects.ages.isEmpty else { return }
    let setBack = objects.ages.beginSave(at: now)
    if let setBack, let kept {
      kept.makeOlder(by: setBack)
      // The kept values have other times now, so their records change.
      rows.whole.canDiff = false
    }
    rows.sensitive.noteForgotten(secrets)
    rows.sensitive.findDue(at: clock, isSetBack: setBack != nil) { [rows] in
      rows[$0].hearing.isRegistered
    }
  }

  /// The time by which values end.
  private var clock: Date { objects.ages.clock(at: now) }

  private func element(of number: RowNumber?) -> ElementID {
    ElementID(
      kind: number.map { rows[$0].kind } ?? .application, path: rows.path(of: number))
  }

  /// Writes the values that a coder took; a value whose time is over is left out.
  ///
  /// - Returns: The fingerprint and the size of the written values; nil if there are none.
  @discardableResult
  func encode(
    _ values: SensitiveValues?, of object: (any StateRestoring)?, _ number: RowNumber?,
    with encoder: KeyedEncoder
  ) throws -> StoredSensitiveValue.Written? {
    guard values != nil || use(of: number) != nil else { return nil }
    let element = element(of: number)
    let known = objects.ages.values(of: object, at: element, unlessLeft: left)
    var ages: [[String]: ValueAges.Known] = [:]
    var use = RowSensitivity(object: object)
    var stored: [StoredSensitiveValue] = []
    // The row may be that of another object, which was at the same address.
    let earlier = object.flatMap(objects.subkeys) ?? []
    for (keys, value) in values?.all ?? [] {
      switch value {
      case .absent: break
      case .secret(let content):
        let secret = ValueID(element: element, keys: keys)
        let (id, subkey) = try subkey(for: secret, of: object, number, earlier: earlier)
        use.subkeys.append(id)
        let sealed = Data(try subkey.seal(content.bytes))
        stored.append(StoredSensitiveValue(keys: keys, content: sealed, subkey: id))
      case .expiring(let duration, let content):
        let fingerprint = content.fingerprint
        guard let age = age(of: fingerprint, lasting: duration, known[keys]) else { continue }
        // The age of a value that has ended stays, too: the value must not begin anew.
        ages[keys] = ValueAges.Known(fingerprint: fingerprint, since: age.since)
        guard age.end > clock else { continue }
        use.end = min(age.end, use.end ?? age.end)
        let bytes = Data(content.bytes)
        stored.append(
          StoredSensitiveValue(keys: keys, content: bytes, since: age.since, seconds: age.seconds))
      }
    }
    let isKnown = !ages.isEmpty || !known.isEmpty
    if isKnown, let object, let former = objects.ages.element(of: object) { left.insert(former) }
    // Also if all values have ended, so that a save sees when they are not encoded any more.
    found[number] = Finding(
      use: stored.isEmpty && ages.isEmpty ? nil : use,
      said: Finding.Said(object: object, element: element, ages: isKnown ? ages : nil))
    return try StoredSensitiveValue.encode(stored, with: encoder)
  }

  /// The subkey of a secret: the secret's own of earlier saves, or a new one.
  private func subkey(
    for value: ValueID, of object: (any StateRestoring)?, _ number: RowNumber?,
    earlier: [UInt64]
  ) throws(ArchiveError) -> (id: UInt64, subkey: ValueSubkey) {
    let (id, subkey, isNew) = try secrets.subkey(for: value, earlier: earlier) {
      isFree($0, for: number) && !objects.isSubkey($0, ofOtherThan: object)
        && objects.kept?.isSubkey($0, ofOtherThan: object) != true
    }
    rows.sensitive.subkeyUsers[id] = number
    if isNew { madeSubkeys.insert(id) }
    return (id, subkey)
  }

  /// The age of a value that ends: it goes on while the value stays the same; nil if the value is
  /// over at once.
  private func age(
    of value: RecordFingerprint, lasting duration: Duration, _ known: ValueAges.Known?
  ) -> ValueAge? {
    let seconds = duration / .seconds(1)
    guard seconds > 0 else { return nil }
    let before = known.flatMap { $0.fingerprint == value ? $0.since : nil }
    return ValueAge(since: before ?? clock, seconds: seconds)
  }

  /// Whether no other object that has its place uses a subkey.
  ///
  /// A subkey of two objects would be forgotten under the path of one of them alone.
  private func isFree(_ subkey: UInt64, for number: RowNumber?) -> Bool {
    guard let user = rows.sensitive.subkeyUsers[subkey], user != number,
      let use = use(of: user), use.subkeys.contains(subkey)
    else { return true }
    guard let user else { return false }
    return use.object == nil && !use.isKept || rows[user].met.walk != rows.run.walk
      || rows[user].met.status != .placed
  }

  /// Writes the values of the state that was stored last, but for values that have ended.
  func encodeLast(
    _ values: KeyedDecoder, of object: any StateRestoring, _ number: RowNumber,
    with encoder: KeyedEncoder
  ) throws {
    let known = objects.ages.values(of: object, at: element(of: number))
    let stored = try StoredSensitiveValue.all(in: values)
      .map { value in
        var value = value
        // The clock may have been set back since the value was stored.
        if let since = value.since { value.since = min(since, known[value.keys]?.since ?? since) }
        return value
      }
      .filter { value in value.age.map { $0.end > clock } ?? true }
    noteSubkeys(of: stored, number)
    try StoredSensitiveValue.encode(stored, with: encoder)
  }

  /// Notes that a record which is kept as it is stored goes on to refer to its subkeys.
  func noteSubkeys(ofStored values: KeyedDecoder, _ number: RowNumber) {
    do {
      noteSubkeys(of: try StoredSensitiveValue.all(in: values), number)
    } catch {
      // Values that cannot be read can be opened by nobody, so their subkeys do not matter.
    }
  }

  /// Notes that states which are kept beside that of a row go on to refer to their subkeys.
  func noteSubkeys(ofKept states: [KeptState], _ number: RowNumber) {
    let stored = states.compactMap(\.values.sensitive).flatMap { values in
      do {
        return try StoredSensitiveValue.all(in: values)
      } catch {
        // Values that cannot be read can be opened by nobody, so their subkeys do not matter.
        return []
      }
    }
    let subkeys = stored.compactMap(\.subkey)
    guard !subkeys.isEmpty else { return }
    var use = use(of: number) ?? RowSensitivity(isKept: true)
    use.subkeys += subkeys
    found[number, default: Finding()].use = use
    for subkey in subkeys { rows.sensitive.subkeyUsers[subkey] = number }
  }

  private func noteSubkeys(of values: [StoredSensitiveValue], _ number: RowNumber) {
    let subkeys = values.compactMap(\.subkey)
    found[number] = Finding(
      use: subkeys.isEmpty ? nil : RowSensitivity(subkeys: subkeys, isKept: true))
    for subkey in subkeys { rows.sensitive.subkeyUsers[subkey] = number }
  }

  /// The subkeys to which the stored state refers; nil if there are none.
  ///
  /// From now on, values and subkeys are known under the elements that their objects are now.
  func finish(without gone: Rows.Gone) -> SecretUse? {
    settle()
    let uses = rows.sensitive.uses(without: gone)
    for (number, sensitivity) in uses {
      let element = element(of: number)
      if let ages = sensitivity.ages { objects.ages.move(ages, to: element) }
      secrets.move(sensitivity.subkeys, to: element)
    }
    let subkeys = Set(uses.values.flatMap(\.subkeys))
    if rows.sensitive.subkeyUsers.count > subkeys.count * 2 {
      rows.sensitive.subkeyUsers = rows.sensitive.subkeyUsers.filter { subkeys.contains($0.key) }
    }
    let unused = madeSubkeys.subtracting(subkeys)
    if !unused.isEmpty { secrets.remove { unused.contains($0.id) } }
    guard !subkeys.isEmpty else { return nil }
    return SecretUse(ids: subkeys, clearCount: clearCount)
  }

  /// Keeps the ages of an object whose state of an earlier save stays.
  func keepAges(of object: any StateRestoring, _ number: RowNumber) {
    forget(number)
    guard !objects.ages.isEmpty else { return }
    objects.ages.keep(object, at: element(of: number))
  }

  /// Forgets the values of a row, whose record has none or gets others.
  func forget(_ number: RowNumber) {
    if found[number] != nil || rows.sensitive.uses[number] != nil { found[number] = Finding() }
  }

  // MARK: The end of a walk

  private func use(of number: RowNumber?) -> RowSensitivity? {
    if let finding = found[number] { return finding.use }
    return rows.sensitive.uses[number]
  }

  /// Lets the rows and the ages take the findings of a walk that has come to its end.
  func settle() {
    for (number, finding) in found {
      var use = finding.use
      if let said = finding.said {
        let values = said.ages.flatMap {
          objects.ages.set($0, of: said.object, at: said.element, clock: clock)
        }
        use?.ages = values
        if let object = said.object { objects.setSubkeys(use?.subkeys ?? [], of: object) }
      }
      rows.sensitive.uses[number] = use
    }
    end()
  }

  /// Lets go of the objects.
  func end() { (found, left) = ([:], []) }

  /// Forgets the findings of a walk that begins anew, but for the application, which is asked once.
  ///
  /// In the new walk an object may have no room, another place, or the state that was stored last.
  /// The users of subkeys stay: a row is asked whether it still uses a subkey.
  func beginAnew() {
    found = found.filter { $0.key == nil }
    left = []
  }
}
