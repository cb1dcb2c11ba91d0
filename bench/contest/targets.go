package contest

import "regexp"

// Target is what we want of ourselves in some cells.
type Target struct {
	cells  *regexp.Regexp
	metric Metric
	// Limits on our value in relation to others; 0: none. They are upper limits,
	// or lower ones of metrics of which more is better.
	floor, best, gosdk float64
	absolute           float64 // an upper limit on our value itself; 0: none
}

// Targets are all of them. A cell may have several, each on another metric.
func Targets() []Target {
	at := func(cells string, m Metric, floor, best, gosdk float64) Target {
		return Target{cells: regexp.MustCompile("^" + cells + "$"), metric: m, floor: floor, best: best, gosdk: gosdk}
	}
	return []Target{
		at("stdio/.*/add-64", CPU, 6, 1./8, 1./25),
		at("stdio/.*/add-1", P50, 3, 1./4, 1./6),
		at("http/.*/add-64", CPU, 1.5, 1./4, 1./12),
		at(".*/echo-64k", CPU, 8, 1./4, 1./15),
		at(".*/list-500", CPU, 2, 1./40, 1./200),
		at(".*/slow-200", Rate, 0.9, 1.4, 3),
		at(".*/cold-start", Start, 1.5, 1, 0),
		at("client/.*", CallCPU, 0, 1./5, 1./10),
		weighs("http/legacy/idle-sessions", 4),
		weighs("http/legacy/idle-streams", 32),
	}
}

// weighs is a target on the memory that one idle client takes, in KiB.
func weighs(cell string, most float64) Target {
	return Target{cells: regexp.MustCompile("^" + cell + "$"), metric: Each, absolute: most}
}

// keeps says whether a ratio keeps a limit.
func (t Target) keeps(v Spread, limit float64) bool {
	if t.metric.higherIsBetter() {
		return v.Median >= limit
	}
	return v.Median <= limit
}
