// The new core notes no problems beside a state: they are printed, and `Restoration.lastSave` has the report.
