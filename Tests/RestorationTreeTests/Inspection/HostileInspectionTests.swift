// States of the form that the new core does not read; HostileOutlineTests has those of its own.
