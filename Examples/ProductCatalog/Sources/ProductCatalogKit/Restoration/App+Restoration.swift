extension App {
  /// Runs, and keeps the windows stored from the first key to the end.
  package func run(keeping restoration: WindowRestoration) async -> Ending {
    commands = restoration
    afterEvent = { event in
      // Only keys change what is restored: not ticks, and not the size of the terminal.
      if case .key = event { restoration.noteChange() }
    }
    let ending = await run()
    await restoration.finish()
    return ending
  }
}
