// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatWarning("ExplicitSendable", as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Tests hold bytes and pointers to other processes freely, and a binding to widgets in C is made of
// pointers, so they do without the memory safety warnings; everything else is as strict as the sources.
let pointerSettings: [SwiftSetting] = Array(settings.dropFirst(2))
let testSettings = pointerSettings

// RESTORATION_NEXT=1 chooses the new core: a folder of its own, and of the old one what stays as it is.
let isNext = Context.environment["RESTORATION_NEXT"] != nil
let next = (
  sources: ["RestorationKernel"]
    + [
      "Interface",
      "Activities", "Scenes/ActivationState.swift", "Scenes/ClosedSceneBound.swift",
      "Scenes/SceneConfiguration.swift",
      "Scenes/SceneConnectionOptions.swift",
      "Scenes/SceneDelegate.swift", "Scenes/SceneHostDelegate.swift",
      "Scenes/SceneStart.swift",
      "Values/Restored.swift",
      "Types/ObjectObservation.swift", "Types/StoredProperties.swift", "Types/ViewTree.swift",
      "Tree/ApplicationEnvironment.swift",
      "Tree/MigratingState.swift", "Tree/StateMigration.swift", "Tree/ValueContent.swift",
      "Engine/Blocking.swift", "Keeping/ExitHook.swift",
      "Keeping/SignalWire.swift", "Reports/Error+Reason.swift", "Reports/Problems.swift",
      "Stores/BaseDirectories.swift", "Stores/MemoryStateDirectory.swift",
    ].map { "RestorationKit/\($0)" },
  targets: [
    "CSodium", "RestorationFoundation", "RestorationLibc", "ArchiveCodec", "RestorationKit",
    "RestorationDrafts", "RestorationDraftsTests",
    "RestorationInspection", "RestorationCommand", "RestorationTesting", "RestorationSharing",
    "RestorationSharingTesting", "RestorationSharingTests",
    "ArchiveForge", "TestSupport", "RestorationTreeTests", "RestorationValueTests",
    "RestorationWindowTests",
    "RestorationTestingTests", "KernelTests",
    "LaunchedApps", "LaunchedAppsNow", "LaunchTests",
    "CSecret", "RestorationSecretService", "RestorationSecretServiceTests",
    "CPostgreSQL", "RestorationPostgreSQL", "RestorationPostgreSQLTests",
    "CGTK4", "RestorationGTK",
  ],
  // Of other targets, the files that the new core has come to.
  parts: [
    "RestorationInspection": [
      "StateHistory", "StoredLaunches", "StoredState", "StoredState+Outline",
      "StoredState+Windows",
    ].map { "Kernel/\($0).swift" },
    "RestorationSharing": [
      "RestorationSharingKernel", "RestorationSharing/Conflicts/RemoteConflict.swift",
      "RestorationSharing/Copies/LocalFinding.swift",
      "RestorationSharing/Copies/RemoteStatus.swift", "RestorationSharing/Copies/SyncState.swift",
      "RestorationSharing/Keys", "RestorationSharing/Linking/RemoteLookout.swift",
      "RestorationSharing/RestorationError+Sharing.swift", "RestorationSharing/Stores",
    ],
    "RestorationSharingTests": [
      "Copies/LocalCopyTestCase.swift", "Copies/LocalCopyTests.swift",
      "Copies/LocalCopyDamageTests.swift", "Copies/LocalCopyDiscardTests.swift",
      "Copies/LocalCopyLookingTests.swift", "Copies/LocalCopyNoteTests.swift",
      "Copies/LocalFindingTests.swift", "Copies/SyncStateTable.swift",
      "Copies/SyncStateTests.swift", "Crossing/SavedOften.swift",
      "Keeping/AutosaveRestingTests.swift", "Keeping/EndNowTests.swift",
      "Keys/MissingKeyTests.swift", "Keys/ServerKeyProviderTests.swift",
      "Keys/UserKeyChangesTests.swift",
      "Keys/UserKeysTestCase.swift", "Keys/UserKeysTests.swift", "Linking/AsideNameTests.swift",
      "Linking/RefusalTests.swift",
      "Linking/RemoteAttackTests.swift", "Linking/RemoteAutosaveTests.swift",
      "Linking/RemoteErrorTests.swift", "Linking/RemoteHistoryTests.swift",
      "Linking/RemoteLateWriteTests.swift", "Linking/RemoteLeaseTests.swift",
      "Linking/RemoteListeningTests.swift", "Linking/RemoteMemoryTests.swift",
      "Linking/RemoteOverlapTests.swift", "Linking/RemoteRefusedAsideTests.swift",
      "Linking/RemoteRetryTests.swift", "Linking/RemoteSceneTests.swift",
      "Linking/RemoteStaleReadTests.swift",
      "Linking/SharedHistoryTests.swift",
      "Linking/RemoteStateTests.swift",
    ],
    "RestorationTesting": [
      "Conformance", "Golden", "Killing", "Restarting", "RestorationTestFailure.swift",
    ],
    "RestorationTestingTests": [
      "DirectoryConformanceTests.swift", "ExampleTests.swift", "FlawedStorage.swift",
      "FaultyRemoteStoreTests.swift", "FlawedRemoteStore.swift", "Flaws.swift",
      "GoldenStatesTests.swift", "HostRestartTests.swift", "KeyConformanceTests.swift",
      "KillTests.swift", "RemoteStoreConformanceTests.swift", "RestartTests.swift",
      "StorageConformanceTests.swift", "TesterProblemTests.swift",
    ],
    "TestSupport": [
      "Archives.swift", "AutosavePollTestCase.swift", "AutosaveTestCase.swift",
      "ChangeTestCase.swift", "DiskFile.swift", "Device.swift", "DiskMoments.swift",
      "DiskProcess.swift",
      "FaultyDisk.swift", "FaultyStorage.swift", "Gate.swift",
      "HookedStore.swift", "Launch.swift", "Launch+Crash.swift", "LongTests.swift",
      "Machine.swift", "NetworkStore.swift", "PartlyDecodedTestCase.swift",
      "RestorationSession+Launch.swift",
      "SceneLaunch.swift", "SeededGenerator.swift", "SetAsideStates.swift", "SettlingStore.swift",
      "ShortHistory.swift",
      "ShortHistoryTestCase.swift",
      "StoredElements.swift", "SurvivalLog.swift", "TellingStore.swift", "TemporaryDirectory.swift",
      "TestClock.swift", "TestContainers.swift",
      "TestDelegate.swift", "TestList.swift", "TestNode.swift",
      "TestObjects.swift", "TestScene.swift", "Trace.swift", "TrackedNodes.swift",
      "WholeError.swift",
    ],
    "LaunchedApps": [
      "Busy.swift", "Counting.swift", "Descriptors.swift", "Drive.swift", "EndingElsewhere.swift",
      "Forking.swift", "LaunchedApps.swift", "Mistakes", "ReadmeWindows.swift", "Refusing.swift",
      "Signals.swift", "SlowRestore.swift", "TwoVersions.swift", "WithoutPermission.swift",
    ],
    "RestorationWindowTests": [
      "Engine/CallCountTests.swift", "Engine/ClaimTests.swift", "Engine/InstanceEdgeTests.swift",
      "Engine/InstanceProcessTests.swift", "Engine/InstanceTestCase.swift",
      "Engine/LetGoTests.swift", "Engine/MaximumAgeTests.swift",
      "Engine/TwoKeepersTests.swift", "Engine/UndecodedStateTests.swift",
      "Engine/UnreadStateTests.swift", "Interface", "Keeping/AutosaveDiscardTests.swift",
      "Keeping/AutosaveHoldingTests.swift", "Keeping/AutosaveOtherSavesTests.swift",
      "Keeping/HostHistory.swift", "Keeping/KilledAppTests.swift",
      "Keeping/RestorationEndTests.swift", "Keeping/SceneShortHistoryTests.swift",
      "Keeping/UnstoredTests.swift", "Preservation/KeptStateTests.swift",
      "Preservation/ChangeTests.swift", "Preservation/HostileTreeTests.swift",
      "Preservation/KeptBoundTests.swift", "Preservation/LimitsTests.swift",
      "Reports/ErrorWordsTests.swift", "Reports/NotedProblemsTests.swift",
      "Reports/ReportedProblemTests.swift",
      "Restoration/LateNodeTests.swift", "Restoration/VersionHistoryTests.swift",
      "Scenes/ClosedSceneTests.swift", "Scenes/SceneStorageEdgeTests.swift",
      "Scenes/SceneStorageTests.swift", "Scenes/SceneTests.swift",
      "Scenes/SceneValueTests.swift", "Values",
      "Scenes/SceneWindowTests.swift", "Scenes/SceneActivityTests.swift",
      "Scenes/SceneEndNowTests.swift", "Scenes/SceneOrderTests.swift",
      "Scenes/SceneNodesTests.swift", "Scenes/SceneStartTests.swift",
      "Scenes/SceneLockedTests.swift", "Scenes/SceneInteractionTests.swift",
      "Scenes/SceneAutosaveTests.swift", "Scenes/SceneOverlapTests.swift",
      "Scenes/SceneReconnectTests.swift", "Scenes/SceneFailureTests.swift",
      "Scenes/HostEdgeTests.swift", "Scenes/ScenePowerTests.swift",
      "Inspection",
    ],
    "RestorationValueTests": ["Keeping", "Preservation", "Reports", "Values"],
    "RestorationTreeTests": [
      "Engine/CallOrderTests.swift",
      "Activities", "Engine/FailedReadTests.swift", "Engine/FailedSaveTests.swift",
      "Engine/KeyReuseTests.swift", "Engine/LateWriteTests.swift", "Engine/LaunchGuardTests.swift",
      "Engine/OpenFileTests.swift",
      "Engine/LockedTests.swift", "Engine/NodeGuardTrialTests.swift",
      "Engine/SaveWaitTests.swift", "Keeping/AutosaveDifferenceTests.swift",
      "Preservation/CoreModelTests.swift", "Preservation/CoreWalkTests.swift", "Stores",
      "Coding/DecoderTests.swift", "Coding/CodableStateTests.swift",
      "Coding/LimitEdgeTests.swift",
      "Coding/EphemeralKeyTests.swift", "Engine/BesideStateTests.swift",
      "Engine/DiscardPowerTests.swift", "Engine/DiscardedAsidesTests.swift",
      "Engine/LastGenerationTests.swift",
      "Engine/LastStateOwnerTests.swift", "Engine/LastStateTests.swift",
      "Engine/LostSyncTests.swift",
      "Engine/StoredStateTests.swift",
      "Engine/TornStateTests.swift", "Engine/UnchangedPowerTests.swift",
      "Engine/UnusableStateTests.swift",
      "Engine/NodeGuardTestCase.swift", "Engine/NodeGuardTests.swift",
      "Engine/NodeGuardLateTests.swift", "Engine/RestoreOverlapTests.swift",
      "Engine/StateLifetimeTests.swift",
      "Engine/StatusTests.swift", "Engine/TurnQueueTests.swift",
      "Preservation/ChangeHistoryTests.swift", "Preservation/KeptChangesTests.swift",
      "Preservation/KeptChangeHistoryTests.swift", "Preservation/KeptCrossingTests.swift",
      "Keeping/AutosaveEndTests.swift", "Keeping/AutosaveFailureTests.swift",
      "Keeping/AutosaveKillTests.swift", "Keeping/AutosaveSignalTests.swift",
      "Keeping/AutosaveTests.swift", "Keeping/EndNowProcessTests.swift",
      "Keeping/KeeperHistory.swift", "Keeping/KilledKeeperTests.swift",
      "Keeping/RealDiskTests.swift", "Keeping/ShortHistoryTests.swift",
      "Keeping/SurvivalApp.swift", "Keeping/SurvivalHistoryTests.swift",
      "Preservation/ChangeAttackTests.swift", "Preservation/ChangeInterruptionTests.swift",
      "Preservation/KeptNodesTests.swift", "Preservation/ReferredTests.swift",
      "Preservation/KeptByNodeTests.swift", "Preservation/KeptByNodeTests+Replaced.swift",
      "Preservation/KeptByNodeTests+SecondTry.swift", "Preservation/KeptPlaceTests.swift",
      "Preservation/KeptTimeTests.swift", "Preservation/ManyRecordsTests.swift",
      "Reports/DeepReportTests.swift", "Reports/MistakeTests.swift",
      "Reports/SavedFactsTests.swift",
      "Coding/PartlyDecodedTests.swift", "Coding/StatefulNodeTests.swift",
      "Coding/UnreadKeyTests.swift", "Inspection", "Interface",
      "Preservation/ChangedStructureTests.swift",
      "Preservation/SavingTests.swift",
      "Preservation/WalkTests.swift", "Reports/ReportTests.swift",
      "Restoration/ExistingNodeTests.swift",
      "Restoration/GateTests.swift", "Restoration/HookOrderTests.swift",
      "Restoration/LookupTests.swift", "Restoration/NewerVersionTests.swift",
      "Restoration/OrderTests.swift", "Restoration/RegistrationTests.swift",
      "Restoration/RenameTests.swift", "Stores/KeyPlaceTests.swift",
      "Tree/GoldenScreen.swift", "Tree/MigrationTests.swift",
      "Tree/NodeNameTests.swift",
      "Tree/RestorationPathTests.swift",
    ],
  ]
)

let package = Package(
  name: "RestorationKit",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "RestorationKit", targets: ["RestorationKit"]),
    .library(name: "ArchiveCodec", targets: ["ArchiveCodec"]),
    .library(name: "RestorationDrafts", targets: ["RestorationDrafts"]),
    .library(name: "RestorationSharing", targets: ["RestorationSharing"]),
    .library(name: "RestorationInspection", targets: ["RestorationInspection"]),
    .library(name: "RestorationTesting", targets: ["RestorationTesting"]),
    .library(name: "RestorationSharingTesting", targets: ["RestorationSharingTesting"]),
    .library(name: "RestorationSecretService", targets: ["RestorationSecretService"]),
    .library(name: "RestorationPostgreSQL", targets: ["RestorationPostgreSQL"]),
    .library(name: "RestorationGTK", targets: ["RestorationGTK"]),
    .plugin(name: "RestorationCommand", targets: ["RestorationCommand"]),
  ],
  traits: [
    .trait(
      name: "SecretService",
      description: "Keys in the keyring of a Linux desktop, through libsecret."),
    .trait(
      name: "PostgreSQL",
      description: "States in a PostgreSQL that many servers share, through libpq."),
    .trait(name: "GTK", description: "Windows and widgets of GTK 4 that come back."),
  ],
  targets: [
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .target(name: "RestorationLibc", swiftSettings: settings),
    .target(name: "RestorationFoundation", swiftSettings: settings),
    .target(
      name: "ArchiveCodec", dependencies: ["RestorationFoundation", "RestorationLibc", "CSodium"],
      swiftSettings: settings),
    .target(
      name: "RestorationKit",
      dependencies: ["ArchiveCodec", "RestorationFoundation", "RestorationLibc"],
      path: isNext ? "Sources" : nil, exclude: isNext ? ["RestorationKernel/README.md"] : [],
      sources: isNext ? next.sources : nil,
      swiftSettings: settings),
    .target(
      name: "RestorationDrafts",
      dependencies: ["ArchiveCodec", "RestorationFoundation", "RestorationLibc"],
      swiftSettings: settings),
    .target(
      name: "RestorationSharing",
      dependencies: [
        "ArchiveCodec", "RestorationFoundation", "RestorationLibc", "RestorationKit",
      ],
      path: isNext ? "Sources" : nil,
      swiftSettings: settings),
    .target(
      name: "RestorationInspection",
      dependencies: ["ArchiveCodec", "RestorationFoundation", "RestorationKit"],
      exclude: isNext ? [] : ["Kernel"], swiftSettings: settings),
    // Builds the command in Tools/restoration when it is first run.
    .plugin(
      name: "RestorationCommand",
      capability: .command(
        intent: .custom(verb: "restoration", description: "Looks into stored states."),
        permissions: [
          .allowNetworkConnections(
            scope: .all(), reason: "The first run fetches swift-argument-parser.")
        ])),
    .target(
      name: "RestorationTesting",
      dependencies: [
        "ArchiveCodec", "RestorationFoundation", "RestorationLibc", "RestorationKit",
      ],
      swiftSettings: settings),
    .target(
      name: "RestorationSharingTesting",
      dependencies: ["ArchiveCodec", "RestorationKit", "RestorationSharing", "RestorationTesting"],
      swiftSettings: settings),
    // Only with the trait; without it the module is empty, and nobody needs libsecret.
    .systemLibrary(
      name: "CSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
    .target(
      name: "RestorationSecretService",
      dependencies: [
        "ArchiveCodec", "RestorationLibc", "RestorationKit",
        .target(name: "CSecret", condition: .when(traits: ["SecretService"])),
      ],
      swiftSettings: settings),
    // The same with libpq.
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(
      name: "RestorationPostgreSQL",
      dependencies: [
        "RestorationFoundation", "RestorationLibc", "RestorationSharing",
        .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: settings),
    // The same with GTK.
    .systemLibrary(name: "CGTK4", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .target(
      name: "RestorationGTK",
      dependencies: [
        "RestorationKit", .target(name: "CGTK4", condition: .when(traits: ["GTK"])),
      ],
      swiftSettings: pointerSettings),
    // A second writer and reader of archives, made from the specification.
    .target(
      name: "ArchiveForge", dependencies: ["ArchiveCodec", "CSodium"], path: "Tests/ArchiveForge",
      swiftSettings: testSettings),
    .target(
      name: "TestSupport",
      dependencies: [
        "ArchiveCodec", "ArchiveForge", "RestorationKit", "RestorationSharing",
        "RestorationTesting",
      ],
      path: "Tests/TestSupport",
      exclude: isNext ? [] : ["SetAsideStates.swift", "StoredElements.swift"],
      swiftSettings: testSettings),
    // Also built with libFuzzer, by the package in Fuzz.
    .target(
      name: "FuzzTargets", dependencies: ["ArchiveCodec", "ArchiveForge"],
      path: "Fuzz/Sources/FuzzTargets", swiftSettings: testSettings),
    .testTarget(
      name: "ArchiveCodecTests",
      dependencies: [
        "ArchiveCodec", "ArchiveForge", "FuzzTargets", "RestorationTesting", "TestSupport",
      ],
      resources: [.copy("Vectors")], swiftSettings: testSettings),
    // The tests of the library, by what they need: a keeper and its trees, values besides, windows besides,
    // a store of others besides. Their folders are named as those of the sources.
    .testTarget(
      name: "RestorationTreeTests",
      dependencies: [
        "ArchiveCodec", "RestorationInspection", "RestorationKit", "RestorationTesting",
        "TestSupport",
      ],
      exclude: ["Engine/StoredStates"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationValueTests",
      dependencies: ["ArchiveCodec", "RestorationKit", "RestorationTesting", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationWindowTests",
      dependencies: [
        "ArchiveCodec", "RestorationInspection", "RestorationKit", "RestorationTesting",
        "TestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationSharingTests",
      dependencies: [
        "ArchiveCodec", "RestorationInspection", "RestorationKit", "RestorationSharing",
        "RestorationSharingTesting", "RestorationTesting", "TestSupport",
      ],
      exclude: isNext ? [] : ["Linking/SharedHistoryTests.swift"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationDraftsTests",
      dependencies: ["ArchiveCodec", "RestorationDrafts", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "RestorationTestingTests",
      dependencies: [
        "ArchiveCodec", "RestorationKit", "RestorationSharing", "RestorationSharingTesting",
        "RestorationTesting", "TestSupport",
      ],
      swiftSettings: testSettings),
    // Programs of the kind that the README shows, which the tests start, stop and kill.
    .executableTarget(
      name: "LaunchedApps", dependencies: ["RestorationKit"], path: "Tests/LaunchedApps",
      swiftSettings: testSettings),
    .executableTarget(
      name: "LaunchedAppsNow", dependencies: ["RestorationKit"], path: "Tests/LaunchedAppsNow",
      swiftSettings: testSettings),
    .testTarget(
      name: "LaunchTests",
      dependencies: ["RestorationInspection", "RestorationKit", "TestSupport"],
      swiftSettings: testSettings),
    // Empty without the trait, too. Scripts/test runs it with a keyring of its own.
    .testTarget(
      name: "RestorationSecretServiceTests",
      dependencies: [
        "ArchiveCodec", "RestorationKit", "RestorationSecretService", "RestorationTesting",
        "TestSupport", .target(name: "CSecret", condition: .when(traits: ["SecretService"])),
      ],
      swiftSettings: testSettings),
    // Empty without the trait, too. Scripts/test runs it with servers of its own.
    .testTarget(
      name: "RestorationPostgreSQLTests",
      dependencies: [
        "RestorationKit", "RestorationPostgreSQL", "RestorationSharing",
        "RestorationSharingTesting", "RestorationTesting", "TestSupport",
        .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
      ],
      swiftSettings: testSettings),
  ],
  swiftLanguageModes: [.v6]
)

if isNext {
  package.targets.append(
    .testTarget(
      name: "KernelTests",
      dependencies: ["ArchiveCodec", "ArchiveForge", "RestorationKit", "TestSupport"],
      swiftSettings: testSettings))
  package.targets.removeAll { !next.targets.contains($0.name) }
  package.products.removeAll { !next.targets.contains($0.name) }
  for target in package.targets {
    if let sources = next.parts[target.name] { target.sources = sources }
    target.dependencies.removeAll { dependency in
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): !next.targets.contains(name)
      default: true
      }
    }
    // Snippets do not build yet, so nothing but a dependency builds the programs.
    if target.name == "LaunchTests" { target.dependencies += ["LaunchedApps", "LaunchedAppsNow"] }
    target.swiftSettings?.append(.define("RESTORATION_NEXT"))
  }
}
