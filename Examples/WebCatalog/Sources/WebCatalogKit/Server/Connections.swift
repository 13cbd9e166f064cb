import Foundation
import NIOCore
import NIOHTTPTypes
import Synchronization

/// The connections of a server, of which each takes one of the descriptors of its process.
///
/// If nearly all of them are in use, the connection that has waited longest for a whole request
/// makes room. So those who open many and say nothing, or little, keep nobody out.
final class Connections: Sendable {
  private struct State {
    var openCount = 0
    /// Those whose request is not whole, since when in order of their numbers.
    var waiting: [Int: any Channel] = [:]
    var lastNumber = 0
  }

  /// How many the server has at most.
  let limit: Int
  private let state = Mutex(State())

  /// How many are left for those that come.
  private static let spareCount = 8

  init(limit: Int) { self.limit = limit }

  /// As many as the process may have files, without those that it needs itself: for event loops,
  /// databases, states and logs.
  static var usualLimit: Int {
    let own = 64 + 4 * ProcessInfo.processInfo.activeProcessorCount
    return min(max(sysconf(Int32(_SC_OPEN_MAX)) - own, 16), 4096)
  }

  fileprivate func open() {
    let oldest = state.withLock { state -> (any Channel)? in
      state.openCount += 1
      guard state.openCount > limit - Self.spareCount,
        let number = state.waiting.keys.min()
      else { return nil }
      return state.waiting.removeValue(forKey: number)
    }
    oldest?.close(promise: nil)
  }

  fileprivate func close() { state.withLock { $0.openCount -= 1 } }

  fileprivate func beginWaiting(_ channel: any Channel) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.waiting[state.lastNumber] = channel
      return state.lastNumber
    }
  }

  fileprivate func endWaiting(_ number: Int) {
    state.withLock { $0.waiting[number] = nil }
  }
}

/// Closes a connection whose request is not whole in time, also if its bytes come now and then.
///
/// An answer may take as long as it likes.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let limit: TimeAmount
  private let connections: Connections
  private var isReading = false
  /// Of the requests whose beginning has come, those that are not answered yet.
  private var openRequestCount = 0
  private var waiting: (number: Int, end: Scheduled<Void>)?

  init(_ limit: Duration, among connections: Connections) {
    (self.limit, self.connections) = (TimeAmount(limit), connections)
  }

  func channelActive(context: ChannelHandlerContext) {
    connections.open()
    wait(context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    endWaiting()
    connections.close()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      (isReading, openRequestCount) = (true, openRequestCount + 1)
      wait(context)
    case .body: break
    case .end:
      isReading = false
      if openRequestCount > 0 { endWaiting() }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      openRequestCount -= 1
      if openRequestCount == 0, !isReading { wait(context) }
    }
    context.write(data, promise: promise)
  }

  private func wait(_ context: ChannelHandlerContext) {
    endWaiting()
    let channel = context.channel
    waiting = (
      connections.beginWaiting(channel),
      context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    )
  }

  private func endWaiting() {
    guard let (number, end) = waiting else { return }
    end.cancel()
    connections.endWaiting(number)
    waiting = nil
  }
}
