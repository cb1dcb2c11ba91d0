package main

import (
	"math"
	"testing"
	"time"
)

// The instants below are in Universal Time, as printed in the phase tables of the United States
// Naval Observatory. Each was checked against a computation from JPL's ephemeris DE431.
var (
	publishedNewMoons = []string{
		"1900-05-28T14:50Z", "1905-08-30T13:13Z", "1908-01-03T21:43Z", "1912-04-17T11:40Z",
		"1914-08-21T12:26Z", "1919-05-29T13:12Z", "1922-09-21T04:38Z", "1927-06-29T06:32Z",
		"1932-08-31T19:55Z", "1936-06-19T05:14Z", "1940-10-01T12:41Z", "1945-07-09T13:35Z",
		"1948-05-09T02:30Z", "1954-06-30T12:26Z", "1959-10-02T12:31Z", "1961-02-15T08:10Z",
		"1966-05-20T09:42Z", "1969-07-14T14:11Z", "1973-06-30T11:39Z", "1977-02-18T03:37Z",
		"1979-02-26T16:45Z", "1983-06-11T04:38Z", "1986-10-03T18:55Z", "1991-07-11T19:06Z",
		"1994-11-03T13:36Z", "1999-08-11T11:09Z", "2000-01-06T18:14Z", "2001-06-21T11:58Z",
		"2006-03-29T10:15Z", "2009-07-22T02:35Z", "2012-11-13T22:08Z", "2015-03-20T09:36Z",
		"2017-08-21T18:30Z", "2020-12-14T16:16Z", "2024-04-08T18:21Z", "2026-08-12T17:37Z",
		"2027-08-02T10:05Z", "2033-03-30T17:51Z", "2037-01-16T09:34Z", "2045-08-12T17:39Z",
		"2050-05-20T20:51Z", "2052-03-30T18:27Z", "2060-04-30T10:11Z", "2066-06-22T19:15Z",
		"2075-07-13T06:12Z", "2081-09-03T09:02Z", "2090-09-23T17:04Z", "2100-09-04T08:51Z",
	}
	publishedFirstQuarters = []string{
		"1902-06-12T23:53Z", "1930-03-08T04:00Z", "1950-12-16T05:56Z", "1985-01-29T03:29Z",
		"2024-01-18T03:52Z", "2060-10-02T20:41Z", "2100-05-17T02:43Z",
	}
	publishedFullMoons = []string{
		"1900-01-15T19:07Z", "1910-11-17T00:25Z", "1917-07-04T21:40Z", "1925-02-08T21:49Z",
		"1935-01-19T15:44Z", "1943-08-15T19:34Z", "1950-09-26T04:21Z", "1957-05-13T22:34Z",
		"1963-12-30T11:04Z", "1969-07-29T02:45Z", "1975-05-25T05:51Z", "1982-07-06T07:32Z",
		"1990-02-09T19:16Z", "1993-11-29T06:31Z", "1997-09-16T18:51Z", "2000-07-16T13:55Z",
		"2004-10-28T03:07Z", "2010-12-21T08:13Z", "2015-09-28T02:50Z", "2018-07-27T20:20Z",
		"2019-01-21T05:16Z", "2022-11-08T11:02Z", "2025-03-14T06:55Z", "2029-06-26T03:22Z",
		"2032-10-18T18:58Z", "2040-05-26T11:47Z", "2048-01-01T06:57Z", "2058-06-06T19:15Z",
		"2065-01-22T09:54Z", "2078-10-21T02:55Z", "2090-03-15T23:43Z", "2100-02-24T14:53Z",
	}
	publishedLastQuarters = []string{
		"1911-09-15T17:51Z", "1940-03-30T16:20Z", "1968-11-13T08:53Z", "2000-02-27T03:54Z",
		"2025-01-21T20:31Z", "2070-06-02T01:27Z", "2100-12-24T08:47Z",
	}
)

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04Z", s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestAgeCountsFromThePublishedNewMoon(t *testing.T) {
	const tolerance = 0.002 // days, just under three minutes
	for _, s := range publishedNewMoons {
		at := instant(t, s)
		for _, days := range []int{1, 14, 29} {
			age, _ := Phase(at.AddDate(0, 0, days))
			if math.Abs(age-float64(days)) > tolerance {
				t.Errorf("%d days after the new moon of %s the age is %.4f", days, s, age)
			}
		}
		if age, _ := Phase(at.Add(-time.Hour)); age < 29 {
			t.Errorf("an hour before the new moon of %s the age is %.4f; the old month is not over", s, age)
		}
	}
}

func TestPublishedPhasesShowTheirShareOfTheDisc(t *testing.T) {
	tests := []struct {
		name         string
		instants     []string
		illumination int
		elongation   float64
	}{
		{"a new moon is dark", publishedNewMoons, 0, 0},
		{"a first quarter is half lit", publishedFirstQuarters, 50, 90},
		{"a full moon is lit whole", publishedFullMoons, 100, 180},
		{"a last quarter is half lit", publishedLastQuarters, 50, 270},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range tt.instants {
				at := instant(t, s)
				if _, got := Phase(at); got != tt.illumination {
					t.Errorf("illumination at %s is %d, want %d", s, got, tt.illumination)
				}
				// The Moon gains half a degree an hour on the Sun: 0.03° is four minutes.
				longitude, _ := elongation(dynamicalDays(at) / century)
				if off := math.Remainder(longitude-tt.elongation, 360); math.Abs(off) > 0.03 {
					t.Errorf("the elongation at %s is %.3f° away from %.0f°", s, off, tt.elongation)
				}
			}
		})
	}
}

// The first percentage is that of the worked example in Meeus, chapter 48, at 0h Dynamical Time. The
// others are from JPL Horizons for the centre of the Earth: those of 2019 as printed, the earlier ones
// from the printed phase angle i as (1 + cos i) / 2.
func TestIlluminationMatchesThePublishedEphemeris(t *testing.T) {
	tests := []struct {
		at      time.Time
		percent float64
	}{
		{time.Date(1992, 4, 11, 23, 59, 1, 0, time.UTC), 67.86},
		{time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC), 99.937},
		{time.Date(2010, 1, 15, 0, 0, 0, 0, time.UTC), 0.081},
		{time.Date(2011, 3, 13, 0, 0, 0, 0, time.UTC), 50.238},
		{time.Date(2011, 3, 23, 0, 0, 0, 0, time.UTC), 84.964},
		{time.Date(2011, 6, 7, 0, 0, 0, 0, time.UTC), 27.286},
		{time.Date(2018, 6, 18, 0, 0, 0, 0, time.UTC), 23.665},
		{time.Date(2018, 7, 6, 0, 0, 0, 0, time.UTC), 53.482},
		{time.Date(2018, 7, 28, 0, 0, 0, 0, time.UTC), 99.979},
		{time.Date(2019, 9, 12, 0, 0, 0, 0, time.UTC), 95.688},
		{time.Date(2019, 9, 13, 0, 0, 0, 0, time.UTC), 98.620},
		{time.Date(2019, 9, 14, 0, 0, 0, 0, time.UTC), 99.814},
		{time.Date(2019, 9, 15, 0, 0, 0, 0, time.UTC), 99.231},
		{time.Date(2019, 9, 16, 0, 0, 0, 0, time.UTC), 96.874},
		{time.Date(2019, 9, 17, 0, 0, 0, 0, time.UTC), 92.791},
		{time.Date(2019, 9, 18, 0, 0, 0, 0, time.UTC), 87.074},
		{time.Date(2019, 9, 19, 0, 0, 0, 0, time.UTC), 79.858},
	}
	for _, tt := range tests {
		if got := 100 * litFraction(tt.at); math.Abs(got-tt.percent) > 0.05 {
			t.Errorf("at %s the lit part is %.3f%%, want %.3f%%", tt.at, got, tt.percent)
		}
		if _, got := Phase(tt.at); got != int(math.Round(tt.percent)) {
			t.Errorf("at %s the illumination is %d, want %.3f rounded", tt.at, got, tt.percent)
		}
	}
}

// Meeus works out the new moon of February 1977 in chapter 49, to a hundred-thousandth of a day.
func TestNewMoonMatchesTheWorkedExample(t *testing.T) {
	got := dynamicalDays(newMoon(-283)) + 2451545
	if math.Abs(got-2443192.65118) > 0.00002 {
		t.Errorf("new moon -283 is at Julian day %.5f, want 2443192.65118", got)
	}
}

// Meeus works out the places of Moon and Sun for 1992 April 12, 0h Dynamical Time, in chapters 47
// and 48. The latitude here has only its main waves.
func TestElongationMatchesTheWorkedExample(t *testing.T) {
	longitude, latitude := elongation((2448724.5 - 2451545) / century)
	if off := math.Remainder(longitude-110.828, 360); math.Abs(off) > 0.01 {
		t.Errorf("the Moon is %.3f° away from 110.828° east of the Sun", off)
	}
	if math.Abs(latitude+3.229) > 0.15 {
		t.Errorf("the Moon's latitude is %.3f°, want -3.229°", latitude)
	}
}

// The series for the instant of new moon and the series for the places of Moon and Sun share only
// the mean angles, so each of them checks the other.
func TestEveryNewMoonIsWhereTheMoonMeetsTheSun(t *testing.T) {
	count, worst, squares := 0, 0.0, 0.0
	for k := -1237.0; k <= 1249; k++ {
		at := newMoon(k)
		if at.Year() < 1900 || at.Year() > 2100 {
			t.Fatalf("new moon %.0f is at %s, outside 1900 to 2100", k, at)
		}
		series := dynamicalDays(at)
		meeting := series
		for range 6 {
			longitude, _ := elongation(meeting / century)
			meeting -= math.Remainder(longitude, 360) / 360 * meanMonth
		}
		off := math.Abs(series-meeting) * secondsPerDay
		worst = max(worst, off)
		squares += off * off
		count++
	}
	spread := math.Sqrt(squares / float64(count))
	t.Logf("%d new moons, at worst %.1f s apart, root mean square %.1f s", count, worst, spread)
	if worst > 120 || spread > 38 {
		t.Errorf("at worst %.1f s apart, root mean square %.1f s; want 120 s and 38 s at most", worst, spread)
	}
}

func TestAgeGrowsWithTimeAndStartsAgainAtNewMoon(t *testing.T) {
	const step = 7 * time.Hour
	for _, year := range []int{1900, 1969, 2000, 2024, 2026, 2100} {
		end := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
		before, _ := Phase(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		resets := 0
		for at := time.Date(year, 1, 1, 7, 0, 0, 0, time.UTC); at.Before(end); at = at.Add(step) {
			age, _ := Phase(at)
			switch {
			case math.Abs(age-before-step.Hours()/24) < 1e-9:
			case age < step.Hours()/24 && before > 28.9:
				resets++
			default:
				t.Fatalf("in the %s before %s the age went from %.4f to %.4f", step, at, before, age)
			}
			before = age
		}
		if resets < 12 || resets > 13 {
			t.Errorf("%d has %d new moons", year, resets)
		}
	}
}

func TestAgeIsZeroAtTheInstantOfNewMoon(t *testing.T) {
	for k := -1237.0; k <= 1249; k += 13 {
		at := newMoon(k)
		month := at.Sub(newMoon(k-1)).Hours() / 24
		if age, _ := Phase(at); age != 0 {
			t.Errorf("age at the new moon of %s is %g, want 0", at, age)
		}
		if got := newMoonBefore(at); !got.Equal(at) {
			t.Errorf("the last new moon at %s is %s, want itself", at, got)
		}
		if age, _ := Phase(at.Add(-1)); math.Abs(age-month) > 1e-9 {
			t.Errorf("age a nanosecond before %s is %g, want a whole month of %g", at, age, month)
		}
		if age, _ := Phase(at.Add(1)); age <= 0 || age > 1e-9 {
			t.Errorf("age a nanosecond after %s is %g, want a little over 0", at, age)
		}
	}
}

func TestEveryMonthLastsBetween29And30Days(t *testing.T) {
	shortest, longest := 99.0, 0.0
	last := newMoon(-24730)
	for k := -24729.0; last.Year() <= 3000; k++ {
		next := newMoon(k)
		month := next.Sub(last).Hours() / 24
		shortest, longest = min(shortest, month), max(longest, month)
		last = next
	}
	t.Logf("months last %.3f to %.3f days", shortest, longest)
	if shortest < 29.2 || longest > 29.9 {
		t.Errorf("months last %.3f to %.3f days, want 29.2 to 29.9", shortest, longest)
	}
}

func TestTheTimeZoneDoesNotMatter(t *testing.T) {
	at := time.Date(2024, 4, 8, 18, 30, 0, 0, time.UTC)
	wantAge, wantLit := Phase(at)
	for _, hours := range []int{-12, -5, 1, 9, 14} {
		age, lit := Phase(at.In(time.FixedZone("", hours*3600)))
		if age != wantAge || lit != wantLit {
			t.Errorf("UTC%+d: got %g and %d, want %g and %d", hours, age, lit, wantAge, wantLit)
		}
	}
}

func TestFarInstantsAreAnsweredInRange(t *testing.T) {
	tests := []struct {
		name string
		at   time.Time
	}{
		{"the zero time", time.Time{}},
		{"the year 0", time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 14*3600))},
		{"the year 3000", time.Date(3000, 6, 1, 0, 0, 0, 0, time.UTC)},
		{"the end of the year 9999", time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600))},
		{"long ago", time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"long hence", time.Date(123456, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"longer than the series can count", time.Unix(1<<55, 0)},
		{"the smallest count of seconds", time.Unix(math.MinInt64, 0)},
		{"the largest count of seconds", time.Unix(math.MaxInt64, 999999999)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkRange(t, tt.at) })
	}
}

func TestInstantsBeyondTheEndsAreAnsweredLikeTheEnds(t *testing.T) {
	for _, end := range []time.Time{earliest, latest} {
		wantAge, wantLit := Phase(end)
		for _, years := range []int{3, 4000} {
			if end.Year() < 0 {
				years = -years
			}
			if age, lit := Phase(end.AddDate(years, 0, 0)); age != wantAge || lit != wantLit {
				t.Errorf("%d years beyond %s: got %g and %d, want %g and %d", years, end, age, lit, wantAge, wantLit)
			}
		}
	}
}

// The rounded values are those that Espenak and Meeus print beside their polynomials.
func TestDeltaTMatchesThePublishedValues(t *testing.T) {
	tests := []struct{ year, seconds, tolerance float64 }{
		{0, 10580, 10}, {500, 5710, 10}, {1000, 1570, 10}, {1500, 200, 10}, {1600, 120, 1},
		{1700, 9, 1}, {1800, 14, 1}, {1900, -3, 1}, {1950, 29, 1}, {1990, 56.9, 0.5},
		{2000, 63.8, 0.5}, {2005, 64.7, 0.5}, {2050, 93, 1}, {2100, 203, 1},
	}
	for _, tt := range tests {
		got := deltaT((tt.year - 2000) * 365.2425)
		if math.Abs(got-tt.seconds) > tt.tolerance {
			t.Errorf("in %.0f it is %.1f s, want %.1f s", tt.year, got, tt.seconds)
		}
	}
	for _, s := range deltaTSpans {
		edge := (s.until - 2000) * 365.2425
		if jump := math.Abs(deltaT(edge+0.1) - deltaT(edge-0.1)); jump > 1 {
			t.Errorf("it jumps by %.1f s in %.0f", jump, s.until)
		}
	}
}

func FuzzPhaseStaysInRange(f *testing.F) {
	for _, s := range publishedNewMoons {
		at, err := time.Parse("2006-01-02T15:04Z", s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(at.Unix(), int64(0))
	}
	f.Add(int64(0), int64(-1))
	f.Add(int64(math.MinInt64), int64(math.MinInt64))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, seconds, nanoseconds int64) {
		checkRange(t, time.Unix(seconds, nanoseconds))
	})
}

func checkRange(t *testing.T, at time.Time) {
	t.Helper()
	age, illumination := Phase(at)
	if !(age >= 0 && age <= 29.9) {
		t.Errorf("age at %s is %g, want 0 to 29.9", at, age)
	}
	if illumination < 0 || illumination > 100 {
		t.Errorf("illumination at %s is %d, want 0 to 100", at, illumination)
	}
	if age < 1 && illumination > 3 {
		t.Errorf("%.2f days after new moon at %s the disc is %d%% lit", age, at, illumination)
	}
}
