/// One line of the table.
package struct Row {
  package let what: String
  package let ours: Double?
  package let peer: Double?
  package let ratio: Double?
  package let goal: String
  package let met: Bool

  /// A row of two times or sizes, in the unit that `what` ends with.
  package init(_ what: String, ours: Double, peer: Double, ratio: Double? = nil, goal: Goal) {
    let ratio = ratio ?? goal.ratio(ours: ours, peer: peer)
    self.what = what
    self.ours = ours
    self.peer = peer
    self.ratio = ratio
    self.goal = goal.text
    met = goal.isMet(ratio)
  }

  /// A row of a number with a bound, which stands where the peer would.
  package init(_ what: String, ours: Double, bound: Double, goal: String, met: Bool) {
    self.what = what
    self.ours = ours
    peer = bound
    ratio = ours / bound
    self.goal = goal
    self.met = met
  }

  /// A row that cannot be measured, which is a goal missed.
  package init(_ what: String, notMeasured reason: String, goal: String) {
    self.what = "\(what): not measured: \(reason)"
    ours = nil
    peer = nil
    ratio = nil
    self.goal = goal
    met = false
  }
}

extension Row: Encodable {
  private enum CodingKeys: CodingKey {
    case what, ours, peer, ratio, goal, met
  }

  /// Writes null for what is missing, so that every row has every field.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(what, forKey: .what)
    try container.encode(ours, forKey: .ours)
    try container.encode(peer, forKey: .peer)
    try container.encode(ratio, forKey: .ratio)
    try container.encode(goal, forKey: .goal)
    try container.encode(met, forKey: .met)
  }
}
