package ledger

// field is one field of an entry: its name in the file and a pointer to it.
type field struct {
	name string
	at   any
}

// fields are all fields of this version in the order of the contract, for
// writing and for reading.
func (e *Entry) fields() []field {
	return []field{
		{"schemaVersion", &e.SchemaVersion},
		{"ledgerId", &e.LedgerID},
		{"runtime", &e.Runtime},
		{"startedAt", &e.StartedAt},
		{"host", &e.Host},
		{"bootId", &e.BootID},
		{"cwd", &e.CWD},
		{"repoRoot", &e.RepoRoot},
		{"project", &e.Project},
		{"branch", &e.Branch},
		{"worktree", &e.Worktree},
		{"tty", &e.TTY},
		{"launcherPid", &e.LauncherPID},
		{"parentLedgerId", &e.ParentLedgerID},
		{"parent", &e.Parent},
		{"launchedBy", &e.LaunchedBy},
		{"account", &e.Account},
		{"enrolledBy", &e.EnrolledBy},
		{"mux", &e.Mux},
		{"tmuxSession", &e.TmuxSession},
		{"tmuxSocket", &e.TmuxSocket},
		{"pid", &e.PID},
		{"pidStartTicks", &e.PIDStartTicks},
		{"cpuTicks", &e.CPUTicks},
		{"sessionId", &e.SessionID},
		{"transcriptPath", &e.TranscriptPath},
		{"lastActiveAt", &e.LastActiveAt},
		{"lastHeartbeatAt", &e.LastHeartbeat},
		{"finishedAt", &e.FinishedAt},
		{"finishReason", &e.FinishReason},
		{"rescuedAt", &e.RescuedAt},
		{"rescueRef", &e.RescueRef},
		{"rescueCommit", &e.RescueCommit},
		{"rescuedPaths", &e.RescuedPaths},
		{"rescueSkipped", &e.RescueSkipped},
		{"interactive", &e.Interactive},
		{"hostSocket", &e.HostSocket},
		{"clientTty", &e.ClientTTY},
		{"exitStatus", &e.ExitStatus},
		{"endedBy", &e.EndedBy},
		{"turn", &e.Turn},
		{"turnAt", &e.TurnAt},
		{"sessionIds", &e.SessionIDs},
		{"resumedFrom", &e.ResumedFrom},
		{"scratch", &e.Scratch},
		{"configHome", &e.ConfigHome},
		{"flags", &e.Flags},
		{"resumedBy", &e.ResumedBy},
		{"resumeClaim", &e.ResumeClaim},
		{"program", &e.Program},
		{"gitCommonDir", &e.GitCommonDir},
		{"machineId", &e.MachineID},
		{"turnOrder", &e.TurnOrder},
		{"told", &e.Told},
		{"takenFacts", &e.TakenFacts},
	}
}
