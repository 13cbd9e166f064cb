import Foundation
import RestorationKit
import RestorationSharing

/// A state in one word.
enum Phase: CaseIterable {
  case unknown, current, unsent, awaiting, opposed

  init(_ state: SyncState) {
    self =
      if state.theirs != nil {
        .opposed
      } else if !state.attempts.isEmpty {
        .awaiting
      } else if state.store == .unknown {
        .unknown
      } else {
        state.isUnsent(at: SyncStateTable.changes) ? .unsent : .current
      }
  }
}

/// The states and events of the table in ``SyncStateTests``, and what it says of each pair.
enum SyncStateTable {
  static let changes: SyncState.Changes = 3
  static let earlier: SyncState.Changes = 2

  static func id(_ number: UInt64) -> RemoteParcel.ID {
    RemoteParcel.ID(high: 0, low: number)
  }

  static func base(_ number: UInt64, isPlace: Bool = false) -> SyncState.Base {
    SyncState.Base(
      RemoteVersion("v\(number)"), id: id(number), parcelCount: Int(number),
      byteCount: Int(number) * 10, isPlace: isPlace)
  }

  static let lease = StoredLease(
    holder: id(99), end: Date(timeIntervalSince1970: 1), owner: "ada")
  static let theirs = RemoteState(bytes: [1], version: RemoteVersion("theirs"))

  static func attempt(
    _ kind: SyncState.Attempt.Kind, _ number: UInt64, _ changes: SyncState.Changes? = changes,
    lease: StoredLease? = nil
  ) -> SyncState.Attempt {
    SyncState.Attempt(
      kind, id(number), parcelCount: 2, byteCount: 55, changes: changes, lease: lease)
  }

  /// A state of each phase: as plain as it can be, and with all that can be true beside.
  static let states: [(name: String, state: SyncState)] =
    Phase.allCases.flatMap {
      phase -> [(name: String, state: SyncState)] in
      var plain = SyncState()
      plain.finding = .init(file: .whole, note: .fits)
      switch phase {
      case .unknown: plain.sent = earlier
      case .current: (plain.store, plain.sent) = (.known(base(1)), changes)
      case .unsent: (plain.store, plain.sent) = (.known(base(1)), earlier)
      case .awaiting:
        (plain.store, plain.sent) = (.known(base(1)), earlier)
        plain.attempts = [attempt(.change, 5), attempt(.whole, 6, lease: lease)]
      case .opposed:
        (plain.store, plain.sent) = (.known(base(1)), earlier)
        plain.theirs = .some(theirs)
      }
      var full = plain
      full.past = [nil, id(2)]
      (full.needsWhole, full.removed, full.unwanted) = (true, earlier, earlier)
      (full.lease, full.endsLease) = (lease, true)
      full.finding = .init(file: .damaged, note: .differs)
      return [("\(phase)", plain), ("\(phase)+", full)]
    } + others

  /// What a state can be besides.
  static var others: [(name: String, state: SyncState)] {
    var fresh = SyncState()
    fresh = fresh.after(.began(isHere: true), at: changes).0
    var place = SyncState()
    (place.store, place.sent) = (.known(base(1, isPlace: true)), changes)
    var empty = SyncState()
    (empty.store, empty.sent) = (.known(nil), changes)
    var opposed = empty
    (opposed.store, opposed.theirs) = (.known(base(1)), .some(nil))
    var all = [
      ("fresh", fresh), ("place", place), ("empty", empty), ("opposed by a removal", opposed),
    ]
    for kind in [SyncState.Attempt.Kind.lease, .place, .removal] {
      var awaiting = SyncState()
      (awaiting.store, awaiting.sent, awaiting.lease) = (.known(base(1)), earlier, lease)
      awaiting.needsWhole = true
      let changes = kind == .lease ? nil : changes
      awaiting.attempts = [attempt(kind, 6, changes)]
      all.append(("awaiting \(kind)", awaiting))
    }
    return all
  }

  static let events: [(name: String, event: SyncEvent)] = [
    ("began, here", .began(isHere: true)),
    ("began, not here", .began(isHere: false)),
    ("proved nothing", .proved(.nothing, .nothing)),
    ("proved removal", .proved(.removal, .removal(base(2)))),
    ("proved removal, unknown", .proved(.removal, .removal(nil))),
    ("proved unread", .proved(.unread, .nothing)),
    (
      "proved file, doubted",
      proved(.damaged, .fits, .base(base(2), isSame: true, isAll: true))
    ),
    ("proved file, no note", proved(.whole, .missing, .nothing)),
    (
      "proved file, other",
      proved(.whole, .fits, .base(base(2), isSame: false, isAll: true))
    ),
    (
      "proved file, longer",
      proved(.whole, .fits, .base(base(2), isSame: true, isAll: false))
    ),
    (
      "proved file, same",
      proved(.whole, .fits, .base(base(2), isSame: true, isAll: true))
    ),
    ("removed", .removed),
    ("unwanted", .unwanted),
    ("undone", .undone(changes)),
    ("ends lease", .endsLease(true)),
    ("keeps lease", .endsLease(false)),
    ("trusted", .trusted),
    ("sent change", .sent(attempt(.change, 7))),
    ("sent whole", .sent(attempt(.whole, 7))),
    ("sent lease", .sent(attempt(.lease, 7, nil, lease: lease))),
    ("sent place", .sent(attempt(.place, 7, nil, lease: lease))),
    ("sent removal", .sent(attempt(.removal, 7))),
    ("stored the first", .stored(id(5), as: base(7).version)),
    ("stored the last", .stored(id(6), as: base(7).version)),
    ("stored as nothing", .stored(id(6), as: nil)),
    ("stored late", .stored(id(8), as: base(8).version)),
    ("not stored", .notStored(id(5))),
    ("asked", .asked),
    ("leased", .leased(lease)),
    ("leased by nobody", .leased(nil)),
    ("took", .took(base(2), lease, needsWhole: false)),
    ("took nothing", .took(nil, nil, needsWhole: false)),
    ("took what is damaged", .took(base(2), nil, needsWhole: true)),
    ("recognized", .recognized(base(2), lease, isAll: true)),
    ("recognized a part", .recognized(base(2), nil, isAll: false)),
    ("found a place", .foundPlace(base(2, isPlace: true))),
    ("found no place", .foundPlace(nil)),
    ("opposed", .opposed(RemoteState(bytes: [2], version: RemoteVersion("other")))),
    ("opposed by a removal", .opposed(nil)),
    ("prevailed", .prevailed),
  ]

  static func proved(
    _ file: LocalFinding.File, _ note: LocalFinding.Note, _ base: SyncNote
  ) -> SyncEvent {
    .proved(LocalFinding(file: file, note: note), base)
  }

  static let text = """
    began, here
      unknown unknown+ unsent unsent+ awaiting awaiting+ opposed opposed+ opposed by a removal awaiting lease awaiting place awaiting removal: sent ∅
      current current+ place empty: → unsent, sent ∅
      fresh: –
    began, not here
      unknown unknown+ unsent unsent+ awaiting awaiting+ opposed opposed+ fresh opposed by a removal awaiting lease awaiting place awaiting removal: sent 0
      current current+ place empty: → unsent, sent 0
    proved nothing
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ opposed opposed+ fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: missing missing
    proved removal
      unknown: → unsent, store has v2, sent ∅, whole, removed at 0, missing fits
      unknown+: → unsent, store has v2, past ["nothing"], sent ∅, removed at 0, missing fits
      current place: → unsent, store has v2, past ["1"], sent ∅, whole, removed at 0, missing fits
      current+: → unsent, store has v2, past ["nothing", "1"], sent ∅, removed at 0, missing fits
      unsent awaiting opposed opposed by a removal: store has v2, past ["1"], sent ∅, whole, removed at 0, missing fits
      unsent+ awaiting+ opposed+: store has v2, past ["nothing", "1"], sent ∅, removed at 0, missing fits
      fresh: → unsent, store has v2, whole, removed at 0, missing fits
      empty: → unsent, store has v2, past ["nothing"], sent ∅, whole, removed at 0, missing fits
      awaiting lease awaiting place awaiting removal: store has v2, past ["1"], sent ∅, removed at 0, missing fits
    proved removal, unknown
      unknown unknown+ unsent unsent+ awaiting awaiting+ opposed opposed+ opposed by a removal awaiting lease awaiting place awaiting removal: sent ∅, removed at 0, missing fits
      current current+ place empty: → unsent, sent ∅, removed at 0, missing fits
      fresh: removed at 0, missing fits
    proved unread
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ opposed opposed+ fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: whole missing
    proved file, doubted
      unknown unknown+ awaiting awaiting+ opposed opposed+ fresh awaiting lease awaiting place awaiting removal: sent all, damaged fits
      current current+ place empty opposed by a removal: damaged fits
      unsent unsent+: → current, sent all, damaged fits
    proved file, no note
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ opposed opposed+ fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: whole missing
    proved file, other
      unknown: → unsent, store has v2, sent ∅, whole
      unknown+: → unsent, store has v2, past ["nothing"], sent ∅, whole fits
      current: → unsent, store has v2, past ["1"], sent ∅, whole
      current+: → unsent, store has v2, past ["nothing", "1"], sent ∅, whole fits
      unsent awaiting opposed: store has v2, past ["1"], sent ∅, whole
      unsent+ awaiting+ opposed+: store has v2, past ["nothing", "1"], sent ∅, whole fits
      fresh: → unsent, store has v2, whole, whole fits
      place: → unsent, store has v2, past ["1"], sent ∅, whole, whole fits
      empty: → unsent, store has v2, past ["nothing"], sent ∅, whole, whole fits
      opposed by a removal: store has v2, past ["1"], sent ∅, whole, whole fits
      awaiting lease awaiting place awaiting removal: store has v2, past ["1"], sent ∅, whole fits
    proved file, longer
      unknown: → unsent, store has v2, sent ∅, MARK 20
      unknown+: → unsent, store has v2, past ["nothing"], sent ∅, not whole, whole fits, MARK 20
      current: → unsent, store has v2, past ["1"], sent ∅, MARK 20
      current+: → unsent, store has v2, past ["nothing", "1"], sent ∅, not whole, whole fits, MARK 20
      unsent awaiting opposed: store has v2, past ["1"], sent ∅, MARK 20
      unsent+ awaiting+ opposed+: store has v2, past ["nothing", "1"], sent ∅, not whole, whole fits, MARK 20
      fresh: → unsent, store has v2, whole fits, MARK 20
      place: → unsent, store has v2, past ["1"], sent ∅, whole fits, MARK 20
      empty: → unsent, store has v2, past ["nothing"], sent ∅, whole fits, MARK 20
      opposed by a removal: store has v2, past ["1"], sent ∅, whole fits, MARK 20
      awaiting lease awaiting place awaiting removal: store has v2, past ["1"], sent ∅, not whole, whole fits, MARK 20
    proved file, same
      unknown: → unsent, store has v2, sent 0, MARK 20
      unknown+: → unsent, store has v2, past ["nothing"], sent 0, not whole, whole fits, MARK 20
      current: → unsent, store has v2, past ["1"], sent 0, MARK 20
      current+: → unsent, store has v2, past ["nothing", "1"], sent 0, not whole, whole fits, MARK 20
      unsent awaiting opposed: store has v2, past ["1"], sent 0, MARK 20
      unsent+ awaiting+ opposed+: store has v2, past ["nothing", "1"], sent 0, not whole, whole fits, MARK 20
      fresh: → unsent, store has v2, sent 0, whole fits, MARK 20
      place: → unsent, store has v2, past ["1"], sent 0, whole fits, MARK 20
      empty: → unsent, store has v2, past ["nothing"], sent 0, whole fits, MARK 20
      opposed by a removal: store has v2, past ["1"], sent 0, whole fits, MARK 20
      awaiting lease awaiting place awaiting removal: store has v2, past ["1"], sent 0, not whole, whole fits, MARK 20
    removed
      unknown unknown+ unsent unsent+ awaiting awaiting+ opposed opposed+ fresh opposed by a removal awaiting lease awaiting place awaiting removal: removed at all, NOTE
      current current+ place empty: removed at all
    unwanted
      unknown unsent awaiting opposed opposed by a removal: sent ∅, whole, unwanted at all
      unknown+ unsent+ awaiting+ opposed+ awaiting lease awaiting place awaiting removal: sent ∅, unwanted at all
      current place empty: → unsent, sent ∅, whole, unwanted at all
      current+: → unsent, sent ∅, unwanted at all
      fresh: whole, unwanted at all
    undone
      unknown unknown+ awaiting awaiting+ opposed opposed+ fresh awaiting lease awaiting place awaiting removal: sent all
      current current+ place empty opposed by a removal: –
      unsent unsent+: → current, sent all
    ends lease
      unknown current unsent awaiting opposed fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: ends lease
      unknown+ current+ unsent+ awaiting+ opposed+: –
    keeps lease
      unknown current unsent awaiting opposed fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: –
      unknown+ current+ unsent+ awaiting+ opposed+: keeps lease
    trusted
      unknown unsent awaiting opposed: sent ∅, whole
      unknown+ unsent+ awaiting+ opposed+ awaiting lease awaiting place awaiting removal: sent ∅, whole fits
      current: → unsent, sent ∅, whole
      current+: → unsent, sent ∅, whole fits
      fresh: whole, whole fits
      place empty: → unsent, sent ∅, whole, whole fits
      opposed by a removal: sent ∅, whole, whole fits
    sent change
      unknown unknown+ current current+ unsent unsent+ fresh place empty: → awaiting, awaiting ["change 7"], MARK 55
      awaiting awaiting+: awaiting ["change 5", "whole 6", "change 7"], MARK 55
      opposed opposed+ opposed by a removal: –
      awaiting lease: awaiting ["lease 6", "change 7"], MARK 55
      awaiting place: awaiting ["place 6", "change 7"], MARK 55
      awaiting removal: awaiting ["removal 6", "change 7"], MARK 55
    sent whole
      unknown current unsent fresh place empty: → awaiting, awaiting ["whole 7"], whole, MARK 55
      unknown+ current+ unsent+: → awaiting, awaiting ["whole 7"], MARK 55
      awaiting: awaiting ["change 5", "whole 6", "whole 7"], whole, MARK 55
      awaiting+: awaiting ["change 5", "whole 6", "whole 7"], MARK 55
      opposed opposed+ opposed by a removal: –
      awaiting lease: awaiting ["lease 6", "whole 7"], MARK 55
      awaiting place: awaiting ["place 6", "whole 7"], MARK 55
      awaiting removal: awaiting ["removal 6", "whole 7"], MARK 55
    sent lease
      unknown unknown+ current current+ unsent unsent+ fresh place empty: → awaiting, awaiting ["lease 7"]
      awaiting awaiting+: awaiting ["change 5", "whole 6", "lease 7"]
      opposed opposed+ opposed by a removal: –
      awaiting lease: awaiting ["lease 6", "lease 7"]
      awaiting place: awaiting ["place 6", "lease 7"]
      awaiting removal: awaiting ["removal 6", "lease 7"]
    sent place
      unknown current unsent fresh place empty: → awaiting, awaiting ["place 7"], whole
      unknown+ current+ unsent+: → awaiting, awaiting ["place 7"]
      awaiting: awaiting ["change 5", "whole 6", "place 7"], whole
      awaiting+: awaiting ["change 5", "whole 6", "place 7"]
      opposed opposed+ opposed by a removal: –
      awaiting lease: awaiting ["lease 6", "place 7"]
      awaiting place: awaiting ["place 6", "place 7"]
      awaiting removal: awaiting ["removal 6", "place 7"]
    sent removal
      unknown unknown+ current current+ unsent unsent+ fresh place empty: → awaiting, awaiting ["removal 7"]
      awaiting awaiting+: awaiting ["change 5", "whole 6", "removal 7"]
      opposed opposed+ opposed by a removal: –
      awaiting lease: awaiting ["lease 6", "removal 7"]
      awaiting place: awaiting ["place 6", "removal 7"]
      awaiting removal: awaiting ["removal 6", "removal 7"]
    stored the first
      unknown unknown+ current current+ unsent unsent+ opposed opposed+ fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: –
      awaiting: → current, store has v7, past ["1"], sent all, whole, NOTE
      awaiting+: → current, store has v7, past ["nothing", "2", "1"], sent all, NOTE
    stored the last
      unknown unknown+ current current+ unsent unsent+ opposed opposed+ fresh place empty opposed by a removal: –
      awaiting: → current, store has v7, past ["1"], sent all, lease, NOTE
      awaiting+: → current, store has v7, past ["nothing", "2", "1"], sent all, not whole, NOTE
      awaiting lease: → unsent, store has v7, past ["1"], NOTE
      awaiting place: → current, store has place v7, past ["1"], sent all, NOTE
      awaiting removal: → current, store has v7, past ["1"], sent all, not whole, NOTE
    stored as nothing
      unknown unknown+ current current+ unsent unsent+ opposed opposed+ fresh place empty opposed by a removal: –
      awaiting: → current, store has nothing, past ["1"], sent all, NOTE
      awaiting+: → current, store has nothing, past ["2", "1"], sent all, not whole, no lease, NOTE
      awaiting lease: → unsent, store has nothing, past ["1"], no lease, NOTE
      awaiting place: → current, store has nothing, past ["1"], sent all, no lease, NOTE
      awaiting removal: → current, store has nothing, past ["1"], sent all, not whole, no lease, NOTE
    stored late
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ opposed opposed+ fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: –
    not stored
      unknown unknown+ current current+ unsent unsent+ opposed opposed+ fresh place empty opposed by a removal awaiting lease awaiting place awaiting removal: –
      awaiting awaiting+: awaiting ["whole 6"]
    asked
      unknown fresh: → unsent, store has nothing
      unknown+: → unsent, store has nothing, past ["2"]
      current current+ unsent unsent+ awaiting awaiting+ opposed opposed+ place empty opposed by a removal awaiting lease awaiting place awaiting removal: –
    leased
      unknown current unsent awaiting opposed fresh place empty opposed by a removal: lease
      unknown+ current+ unsent+ awaiting+ opposed+ awaiting lease awaiting place awaiting removal: –
    leased by nobody
      unknown current unsent awaiting opposed fresh place empty opposed by a removal: –
      unknown+ current+ unsent+ awaiting+ opposed+ awaiting lease awaiting place awaiting removal: no lease
    took
      unknown: → current, store has v2, sent all, lease, NOTE
      unknown+: → current, store has v2, past ["nothing"], sent all, not whole, whole fits, NOTE
      current: store has v2, past ["1"], lease, NOTE
      current+: store has v2, past ["nothing", "1"], not whole, whole fits, NOTE
      unsent awaiting opposed: → current, store has v2, past ["1"], sent all, lease, NOTE
      unsent+ awaiting+ opposed+: → current, store has v2, past ["nothing", "1"], sent all, not whole, whole fits, NOTE
      fresh: → current, store has v2, sent all, lease, whole fits, NOTE
      place: store has v2, past ["1"], lease, whole fits, NOTE
      empty: store has v2, past ["nothing"], lease, whole fits, NOTE
      opposed by a removal: → current, store has v2, past ["1"], lease, whole fits, NOTE
      awaiting lease awaiting place awaiting removal: → current, store has v2, past ["1"], sent all, not whole, whole fits, NOTE
    took nothing
      unknown: → current, store has nothing, sent all, NOTE
      unknown+: → current, store has nothing, past ["2"], sent all, not whole, no lease, whole fits, NOTE
      current: store has nothing, past ["1"], NOTE
      current+: store has nothing, past ["2", "1"], not whole, no lease, whole fits, NOTE
      unsent awaiting opposed: → current, store has nothing, past ["1"], sent all, NOTE
      unsent+ awaiting+ opposed+: → current, store has nothing, past ["2", "1"], sent all, not whole, no lease, whole fits, NOTE
      fresh: → current, store has nothing, sent all, whole fits, NOTE
      place: store has nothing, past ["1"], whole fits, NOTE
      empty: whole fits, NOTE
      opposed by a removal: → current, store has nothing, past ["1"], whole fits, NOTE
      awaiting lease awaiting place awaiting removal: → current, store has nothing, past ["1"], sent all, not whole, no lease, whole fits, NOTE
    took what is damaged
      unknown: → current, store has v2, sent all, whole, NOTE
      unknown+: → current, store has v2, past ["nothing"], sent all, no lease, whole fits, NOTE
      current: store has v2, past ["1"], whole, NOTE
      current+: store has v2, past ["nothing", "1"], no lease, whole fits, NOTE
      unsent awaiting opposed: → current, store has v2, past ["1"], sent all, whole, NOTE
      unsent+ awaiting+ opposed+: → current, store has v2, past ["nothing", "1"], sent all, no lease, whole fits, NOTE
      fresh: → current, store has v2, sent all, whole, whole fits, NOTE
      place: store has v2, past ["1"], whole, whole fits, NOTE
      empty: store has v2, past ["nothing"], whole, whole fits, NOTE
      opposed by a removal: → current, store has v2, past ["1"], whole, whole fits, NOTE
      awaiting lease awaiting place awaiting removal: → current, store has v2, past ["1"], sent all, no lease, whole fits, NOTE
    recognized
      unknown fresh: → current, store has v2, sent all, lease, MARK 20, NOTE
      unknown+: → current, store has v2, past ["nothing"], sent all, not whole, whole fits, MARK 20, NOTE
      current place opposed by a removal: store has v2, past ["1"], lease, MARK 20, NOTE
      current+: store has v2, past ["nothing", "1"], not whole, whole fits, MARK 20, NOTE
      unsent awaiting: → current, store has v2, past ["1"], sent all, lease, MARK 20, NOTE
      unsent+ awaiting+: → current, store has v2, past ["nothing", "1"], sent all, not whole, whole fits, MARK 20, NOTE
      opposed: store has v2, past ["1"], sent all, lease, MARK 20, NOTE
      opposed+: store has v2, past ["nothing", "1"], sent all, not whole, whole fits, MARK 20, NOTE
      empty: store has v2, past ["nothing"], lease, MARK 20, NOTE
      awaiting lease awaiting place awaiting removal: → current, store has v2, past ["1"], sent all, not whole, MARK 20, NOTE
    recognized a part
      unknown: → unsent, store has v2, sent ∅, MARK 20, NOTE
      unknown+: → unsent, store has v2, past ["nothing"], sent ∅, not whole, no lease, whole fits, MARK 20, NOTE
      current awaiting place: → unsent, store has v2, past ["1"], sent ∅, MARK 20, NOTE
      current+ awaiting+: → unsent, store has v2, past ["nothing", "1"], sent ∅, not whole, no lease, whole fits, MARK 20, NOTE
      unsent opposed opposed by a removal: store has v2, past ["1"], sent ∅, MARK 20, NOTE
      unsent+ opposed+: store has v2, past ["nothing", "1"], sent ∅, not whole, no lease, whole fits, MARK 20, NOTE
      fresh: → unsent, store has v2, MARK 20, NOTE
      empty: → unsent, store has v2, past ["nothing"], sent ∅, MARK 20, NOTE
      awaiting lease awaiting place awaiting removal: → unsent, store has v2, past ["1"], sent ∅, not whole, no lease, MARK 20, NOTE
    found a place
      unknown fresh: → unsent, store has place v2, whole
      unknown+: → unsent, store has place v2, past ["nothing"], no lease
      current unsent opposed place opposed by a removal: store has place v2, past ["1"], whole
      current+ unsent+ opposed+: store has place v2, past ["nothing", "1"], no lease
      awaiting: → unsent, store has place v2, past ["1"], whole
      awaiting+: → unsent, store has place v2, past ["nothing", "1"], no lease
      empty: store has place v2, past ["nothing"], whole
      awaiting lease awaiting place awaiting removal: → unsent, store has place v2, past ["1"], no lease
    found no place
      unknown fresh: → unsent, store has nothing, whole
      unknown+: → unsent, store has nothing, past ["2"], no lease
      current unsent opposed place opposed by a removal: store has nothing, past ["1"], whole
      current+ unsent+ opposed+: store has nothing, past ["2", "1"], no lease
      awaiting: → unsent, store has nothing, past ["1"], whole
      awaiting+: → unsent, store has nothing, past ["2", "1"], no lease
      empty: whole
      awaiting lease awaiting place awaiting removal: → unsent, store has nothing, past ["1"], no lease
    opposed
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ fresh place empty awaiting lease awaiting place awaiting removal: → opposed, opposed by other
      opposed opposed+ opposed by a removal: opposed by other
    opposed by a removal
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ fresh place empty awaiting lease awaiting place awaiting removal: → opposed, opposed by a removal
      opposed opposed+: opposed by a removal
      opposed by a removal: –
    prevailed
      unknown unknown+ current current+ unsent unsent+ awaiting awaiting+ fresh place empty awaiting lease awaiting place awaiting removal: –
      opposed: → unsent, store has theirs, past ["1"], sent ∅, whole
      opposed+: → unsent, store has theirs, past ["2", "1"], sent ∅, no lease, whole fits
      opposed by a removal: → unsent, store has nothing, past ["1"], sent ∅, whole, whole fits
    """
}

// MARK: Words

extension SyncStateTable {
  /// What an event changes, and what is to be done, in a few words.
  static func difference(
    _ before: SyncState, _ after: SyncState, _ actions: [SyncAction]
  ) -> String {
    var words: [String] = []
    let (old, new) = (Phase(before), Phase(after))
    if old != new { words.append("→ \(new)") }
    if before.store != after.store { words.append("store has \(name(after.store))") }
    if before.theirs != after.theirs, let theirs = after.theirs {
      words.append("opposed by \(theirs?.version.name ?? "a removal")")
    } else if before.attempts != after.attempts, old == new || new == .awaiting {
      words.append("awaiting \(after.attempts.map { "\($0.kind) \($0.id.low)" })")
    }
    if before.past != after.past { words.append("past \(after.past.map(name))") }
    if before.sent != after.sent { words.append("sent \(name(after.sent))") }
    if before.needsWhole != after.needsWhole {
      words.append(after.needsWhole ? "whole" : "not whole")
    }
    if before.removed != after.removed { words.append("removed at \(name(after.removed))") }
    if before.unwanted != after.unwanted { words.append("unwanted at \(name(after.unwanted))") }
    if before.lease != after.lease { words.append(after.lease == nil ? "no lease" : "lease") }
    if before.endsLease != after.endsLease {
      words.append(after.endsLease ? "ends lease" : "keeps lease")
    }
    if before.finding != after.finding {
      let finding = after.finding
      words.append(
        finding.map { "\($0.file) \($0.note)" } ?? "unproved")
    }
    for action in actions {
      switch action {
      case .mark(let count): words.append("MARK \(count)")
      case .note: words.append("NOTE")
      }
    }
    return words.isEmpty ? "–" : words.joined(separator: ", ")
  }

  private static func name(_ store: SyncState.Store) -> String {
    switch store {
    case .unknown: "what nobody knows"
    case .known(nil): "nothing"
    case .known(let base?): "\(base.isPlace ? "place " : "")\(base.version.name)"
    }
  }

  private static func name(_ id: RemoteParcel.ID?) -> String { id.map { "\($0.low)" } ?? "nothing" }

  private static func name(_ changes: SyncState.Changes?) -> String {
    switch changes {
    case nil: "never"
    case Self.changes?: "all"
    case let changes?: changes == .max ? "∅" : "\(changes)"
    }
  }
}
