package load

// SetMost changes how many bytes of a dynamic skill may be read.
func (s *Skill) SetMost(bytes int64) { s.most = bytes }
