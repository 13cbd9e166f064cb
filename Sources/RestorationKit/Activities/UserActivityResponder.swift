/// A part of an interface that adds to the activity of its scene.
public protocol UserActivityResponder: AnyObject {
  /// Adds what this part knows to the activity.
  ///
  /// - Parameter activity: The activity, with what others added before.
  func updateUserActivityState(_ activity: UserActivity)
}

/// Who adds to which activity, in the order in which they were set.
final class ActivityResponders {
  private struct Entry {
    weak var responder: (any UserActivityResponder)?
    let activity: UserActivity
  }

  private var entries: [Entry] = []

  func set(_ activity: UserActivity?, of responder: any UserActivityResponder) {
    entries.removeAll { $0.responder == nil }
    let place = entries.firstIndex { $0.responder === responder }
    let old = place.map { entries.remove(at: $0).activity }
    if let activity {
      entries.insert(
        Entry(responder: responder, activity: activity), at: place ?? entries.count)
    }
    if let old, old !== activity, !entries.contains(where: { $0.activity === old }) {
      old.invalidate()
    }
  }

  func responders(of activity: UserActivity) -> [any UserActivityResponder] {
    entries.filter { $0.activity === activity }.compactMap(\.responder)
  }
}
