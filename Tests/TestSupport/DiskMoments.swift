#if RESTORATION_NEXT
internal import ArchiveCodec
package import RestorationKit

extension DiskProcess: LinkingDirectory {
  /// Moments as links.
  package func linkedMoments(of name: String) -> any MomentStore {
    DiskMoments(process: self, name: name + Self.suffix, directory: "\(name).history/")
  }
}

/// Moments as second names of a file of a ``FaultyDisk``, with the calls that those of real files make.
private struct DiskMoments: MomentStore {
  let process: DiskProcess
  let name: String
  let directory: String

  private var disk: FaultyDisk { process.disk }

  var main: any ArchiveStorage { DiskStorage(process: process, name: name, isDurable: true) }

  func names() throws(ArchiveError) -> [String] {
    try process.ask(.list)
    return disk.names.filter { $0.hasPrefix(directory) }.map {
      String($0.dropFirst(directory.count))
    }
  }

  func storage(of moment: Moment) -> any ArchiveStorage {
    DiskStorage(process: process, name: directory + moment.id, isDurable: true)
  }

  func putLink(_ moment: Moment) throws(ArchiveError) -> Bool {
    try process.ask(.openDirectory)
    do throws(ArchiveError) {
      try process.make(.link) { (course) throws(ArchiveError) in
        try disk.link(name, to: directory + moment.id, course)
      }
    } catch {
      return false
    }
    do throws(ArchiveError) {
      try process.make(.synchronizeDirectory) { (course) throws(ArchiveError) in
        try disk.synchronizeDirectory(course)
      }
    } catch {
      process.removeTemporary(directory + moment.id)
      throw ArchiveError(.notDurable, systemError: error.systemError)
    }
    return true
  }

  func remove(_ moments: [Moment]) throws(ArchiveError) {
    for moment in moments { try storage(of: moment).remove() }
  }
}
#endif
