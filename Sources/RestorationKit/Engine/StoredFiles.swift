internal import ArchiveCodec

/// The files of the state with one name.
struct StoredFiles {
  let name: String
  let storage: StateStorage
  let context: ArchiveContext
  let marker: LaunchMarker
  let secrets: SecretsFile
  /// What is known of the store that the state comes from; nil if it is only here.
  let remote: RemoteCopy?

  init(
    _ name: String, directory: any StateDirectory, keys: any KeyProvider, application: String
  ) {
    self.name = name
    remote = (directory as? RemoteStateDirectory)?.copy(of: name)
    storage = StateStorage(directory.storage(named: name))
    context = ArchiveContext([application, name])
    marker = LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: name),
      context: ArchiveContext(context.fields + ["launch"]),
      isLasting: (directory as? RemoteStateDirectory)?.isInMemory != true)
    secrets = SecretsFile(
      storage: directory.storage(named: name + StateClaim.secretsSuffix),
      context: ArchiveContext(context.fields + ["secrets"]))
    remote?.use(
      RemoteCopy.Opener(keys: keys, context: context, subkeysContext: secrets.context))
  }
}
