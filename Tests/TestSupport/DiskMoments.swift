internal import ArchiveCodec
package import RestorationKit

extension DiskProcess: LinkingDirectory {
  /// Moments as second names of a file of a ``FaultyDisk``, with the calls that those of real files make.
  package func linkedMoments(of name: String) -> MomentStore {
    let directory = "\(name).history/"
    let main = name + Self.suffix
    var moments = MomentStore(
      of: DiskStorage(process: self, name: main, isDurable: true),
      in: AllFiles(process: self), prefix: directory)
    moments.putLink = { id throws(ArchiveError) in
      try self.ask(.openDirectory)
      do throws(ArchiveError) {
        try self.make(.link) { (course) throws(ArchiveError) in
          try self.disk.link(main, to: directory + id, course)
        }
      } catch {
        return false
      }
      do throws(ArchiveError) {
        try self.make(.synchronizeDirectory) { (course) throws(ArchiveError) in
          try self.disk.synchronizeDirectory(course)
        }
      } catch {
        self.removeTemporary(directory + id)
        throw ArchiveError(.notDurable, systemError: error.systemError)
      }
      return true
    }
    return moments
  }
}

/// All files of a disk, by their names.
private struct AllFiles: StateDirectory {
  let process: DiskProcess

  func storage(named name: String) -> any ArchiveStorage {
    DiskStorage(process: process, name: name, isDurable: true)
  }

  func names() throws(ArchiveError) -> [String] {
    try process.ask(.list)
    return process.disk.names
  }
}
