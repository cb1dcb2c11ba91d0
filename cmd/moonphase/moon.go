package main

import (
	"math"
	"time"
)

// The astronomy follows Jean Meeus, Astronomical Algorithms, 2nd edition: chapter 49 for the
// instant of new moon, chapters 47 and 48 for the lit part of the disc. All series run in
// Dynamical Time, which ticks evenly; deltaT takes it to Universal Time, which follows the
// turning Earth. Angles are in degrees until a sine or cosine needs them.

// Phase returns the Moon's age at t, in days since the last true new moon, and how much of its
// disc is lit as seen from the centre of the Earth, in percent from 0 to 100.
//
// From 1900 to 2100 the age is good to two minutes and the illumination to the rounding. Further
// away nobody knows just how the Earth has turned or will turn, which adds minutes, then hours.
// An instant before the year -1 or after the year 10000 is answered like the nearest one between.
func Phase(t time.Time) (age float64, illumination int) {
	if t.Before(earliest) {
		t = earliest
	}
	if t.After(latest) {
		t = latest
	}
	age = t.Sub(newMoonBefore(t)).Hours() / 24
	return age, int(math.Round(100 * litFraction(t)))
}

// The years that RFC 3339 can write are 0 to 9999. One more on either side leaves room for time
// zones.
var (
	earliest = time.Date(-1, time.January, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(10001, time.January, 1, 0, 0, 0, 0, time.UTC)
)

const (
	j2000         = 946728000 // Unix seconds of 2000 January 1, 12h, where the series start.
	secondsPerDay = 86400
	century       = 36525.0      // days
	meanMonth     = 29.530588861 // days from one mean new moon to the next
	firstNewMoon  = 5.09766      // days from j2000 to the mean new moon that has number 0
	distanceRatio = 0.0025736    // the Moon's mean distance over the Sun's
	aberration    = 0.00569      // degrees by which the Sun is seen behind its true place
)

// newMoonBefore returns the last true new moon that is not after t, to the second and in UTC.
// It expects t between earliest and latest.
func newMoonBefore(t time.Time) time.Time {
	// True new moons stray less than two days from the evenly spaced ones, even in the far
	// years, so the wanted one is among the first few from the next even one downwards.
	k := math.Floor((dynamicalDays(t)-firstNewMoon)/meanMonth) + 1
	for newMoon(k).After(t) {
		k--
	}
	return newMoon(k)
}

// newMoon returns true new moon number k, to the second. Number 0 is that of 2000 January 6.
func newMoon(k float64) time.Time {
	days := firstNewMoon + meanMonth*k
	days += polynomial(days/century, 0, 0, 0.00015437, -0.000000150, 0.00000000073)
	mean := anglesAt(days / century)
	days += mean.sum(newMoonTerms)
	for _, c := range newMoonCorrections {
		days += c.amplitude * sin(c.start+c.step*k)
	}
	days -= deltaT(days) / secondsPerDay
	return time.Unix(j2000+int64(math.Round(days*secondsPerDay)), 0).UTC()
}

// litFraction returns the part of the Moon's disc that is lit at t, from 0 to 1.
func litFraction(t time.Time) float64 {
	longitude, latitude := elongation(dynamicalDays(t) / century)
	// The angle Sun–Earth–Moon comes first, then the angle Sun–Moon–Earth, which decides how
	// much of the lit half is turned to us.
	cosEarth := cos(latitude) * cos(longitude)
	sinEarth := math.Sqrt(1 - cosEarth*cosEarth)
	atMoon := math.Atan2(sinEarth, distanceRatio-cosEarth)
	return (1 + math.Cos(atMoon)) / 2
}

// elongation returns how far the Moon is east of the Sun along the ecliptic, and how far north of
// the ecliptic it is. The time is in Julian centuries of Dynamical Time from j2000.
func elongation(centuries float64) (longitude, latitude float64) {
	mean := anglesAt(centuries)
	longitude = mean.elongation + mean.sum(moonLongitudeTerms) - mean.sum(sunLongitudeTerms) + aberration
	return longitude, mean.sum(moonLatitudeTerms)
}

// angles are the evenly growing angles that every series is made of. Meeus calls them D, M, M′
// and F; his E is eccentricity.
type angles struct {
	elongation   float64 // mean elongation of the Moon from the Sun
	sun          float64 // mean anomaly of the Sun: its angle from perigee
	moon         float64 // mean anomaly of the Moon
	node         float64 // mean distance of the Moon from its ascending node
	eccentricity float64 // of the Earth's orbit, as a fraction of that in the year 2000
}

// anglesAt returns the mean angles at a time in Julian centuries of Dynamical Time from j2000.
func anglesAt(centuries float64) angles {
	return angles{
		elongation:   polynomial(centuries, 297.8501921, 445267.1114034, -0.0018819, 1.0/545868, -1.0/113065000),
		sun:          polynomial(centuries, 357.5291092, 35999.0502909, -0.0001536, 1.0/24490000),
		moon:         polynomial(centuries, 134.9633964, 477198.8675055, 0.0087414, 1.0/69699, -1.0/14712000),
		node:         polynomial(centuries, 93.2720950, 483202.0175233, -0.0036539, -1.0/3526000, 1.0/863310000),
		eccentricity: polynomial(centuries, 1, -0.002516, -0.0000074),
	}
}

// A term is one wave of a series: amplitude times the sine of a sum of whole multiples of the
// mean angles. A wave that has the Sun's anomaly in it shrinks with the Earth's eccentricity.
type term struct {
	amplitude                   float64
	elongation, sun, moon, node float64
}

// sum adds up the series at the angles a.
func (a angles) sum(series []term) float64 {
	total := 0.0
	for _, w := range series {
		angle := w.elongation*a.elongation + w.sun*a.sun + w.moon*a.moon + w.node*a.node
		total += w.amplitude * math.Pow(a.eccentricity, math.Abs(w.sun)) * sin(angle)
	}
	return total
}

// newMoonTerms lead from mean to true new moon (Meeus, chapter 49). At mean new moon the mean
// elongation is zero, so its column is empty.
var newMoonTerms = []term{
	// amplitude in days; multiples of elongation, sun, moon, node
	{-0.40720, 0, 0, 1, 0},
	{+0.17241, 0, 1, 0, 0},
	{+0.01608, 0, 0, 2, 0},
	{+0.01039, 0, 0, 0, 2},
	{+0.00739, 0, -1, 1, 0},
	{-0.00514, 0, 1, 1, 0},
	{+0.00208, 0, 2, 0, 0},
	{-0.00111, 0, 0, 1, -2},
	{-0.00057, 0, 0, 1, 2},
	{+0.00056, 0, 1, 2, 0},
	{-0.00042, 0, 0, 3, 0},
	{+0.00042, 0, 1, 0, 2},
	{+0.00038, 0, 1, 0, -2},
	{-0.00024, 0, -1, 2, 0},
	{-0.00007, 0, 2, 1, 0},
	{+0.00004, 0, 0, 2, -2},
	{+0.00004, 0, 3, 0, 0},
	{+0.00003, 0, 1, 1, -2},
	{+0.00003, 0, 0, 2, 2},
	{-0.00003, 0, 1, 1, 2},
	{+0.00003, 0, -1, 1, 2},
	{-0.00002, 0, -1, 1, -2},
	{-0.00002, 0, 1, 3, 0},
	{+0.00002, 0, 0, 4, 0},
}

// newMoonCorrections are slow waves with a beat of their own (Meeus, chapter 49). The first is the
// turning of the Moon's orbit, the others are the pull of the planets.
var newMoonCorrections = []struct {
	amplitude float64 // days
	start     float64 // the wave's angle at new moon number 0, in degrees
	step      float64 // its growth from one new moon to the next, in degrees
}{
	{-0.000170, 124.7746, -1.563756},
	{+0.000325, 299.77, 0.107408},
	{+0.000165, 251.88, 0.016321},
	{+0.000164, 251.83, 26.651886},
	{+0.000126, 349.42, 36.412478},
	{+0.000110, 84.66, 18.206239},
	{+0.000062, 141.74, 53.303771},
	{+0.000060, 207.14, 2.453732},
	{+0.000056, 154.84, 7.306860},
	{+0.000047, 34.52, 27.261239},
	{+0.000042, 207.19, 0.121824},
	{+0.000040, 291.34, 1.844379},
	{+0.000037, 161.72, 24.198154},
	{+0.000035, 239.56, 25.513099},
	{+0.000023, 331.55, 3.592518},
}

// moonLongitudeTerms lead from the Moon's mean to its true longitude (Meeus, chapter 47, all
// waves above 0.002°).
var moonLongitudeTerms = []term{
	// amplitude in degrees; multiples of elongation, sun, moon, node
	{+6.288774, 0, 0, 1, 0},
	{+1.274027, 2, 0, -1, 0},
	{+0.658314, 2, 0, 0, 0},
	{+0.213618, 0, 0, 2, 0},
	{-0.185116, 0, 1, 0, 0},
	{-0.114332, 0, 0, 0, 2},
	{+0.058793, 2, 0, -2, 0},
	{+0.057066, 2, -1, -1, 0},
	{+0.053322, 2, 0, 1, 0},
	{+0.045758, 2, -1, 0, 0},
	{-0.040923, 0, 1, -1, 0},
	{-0.034720, 1, 0, 0, 0},
	{-0.030383, 0, 1, 1, 0},
	{+0.015327, 2, 0, 0, -2},
	{-0.012528, 0, 0, 1, 2},
	{+0.010980, 0, 0, 1, -2},
	{+0.010675, 4, 0, -1, 0},
	{+0.010034, 0, 0, 3, 0},
	{+0.008548, 4, 0, -2, 0},
	{-0.007888, 2, 1, -1, 0},
	{-0.006766, 2, 1, 0, 0},
	{-0.005163, 1, 0, -1, 0},
	{+0.004987, 1, 1, 0, 0},
	{+0.004036, 2, -1, 1, 0},
	{+0.003994, 2, 0, 2, 0},
	{+0.003861, 4, 0, 0, 0},
	{+0.003665, 2, 0, -3, 0},
	{-0.002689, 0, 1, -2, 0},
	{-0.002602, 2, 0, -1, 2},
	{+0.002390, 2, -1, -2, 0},
	{-0.002348, 1, 0, 1, 0},
	{+0.002236, 2, -2, 0, 0},
	{-0.002120, 0, 1, 2, 0},
	{-0.002069, 0, 2, 0, 0},
	{+0.002048, 2, -2, -1, 0},
}

// moonLatitudeTerms are the Moon's distance from the ecliptic (Meeus, chapter 47). It matters
// only near new and full moon, so the main waves are enough.
var moonLatitudeTerms = []term{
	// amplitude in degrees; multiples of elongation, sun, moon, node
	{5.128122, 0, 0, 0, 1},
	{0.280602, 0, 0, 1, 1},
	{0.277693, 0, 0, 1, -1},
	{0.173237, 2, 0, 0, -1},
}

// sunLongitudeTerms lead from the Sun's mean to its true longitude (Meeus, chapter 25).
var sunLongitudeTerms = []term{
	// amplitude in degrees; multiples of elongation, sun, moon, node
	{1.914602, 0, 1, 0, 0},
	{0.019993, 0, 2, 0, 0},
	{0.000289, 0, 3, 0, 0},
}

// dynamicalDays returns the days of Dynamical Time from j2000 to t.
func dynamicalDays(t time.Time) float64 {
	days := (float64(t.Unix()-j2000) + float64(t.Nanosecond())/1e9) / secondsPerDay
	return days + deltaT(days)/secondsPerDay
}

// deltaT returns how many seconds Dynamical Time is ahead of Universal Time at the given number of
// days after j2000.
func deltaT(days float64) float64 {
	year := 2000 + days/365.2425
	for _, s := range deltaTSpans {
		if year < s.until {
			return polynomial((year-s.origin)/s.unit, s.coefficients...)
		}
	}
	// Beyond the table only the slowing of the Earth by the tides counts.
	return polynomial((year-1820)/100, -20, 0, 32)
}

// deltaTSpans are the polynomials of Fred Espenak and Jean Meeus (NASA, Five Millennium Canon of
// Solar Eclipses), measured up to 2005 and foretold after it.
var deltaTSpans = []struct {
	until        float64   // the year before which the span ends; it begins where the last one ended
	origin       float64   // the year where the polynomial's variable is zero
	unit         float64   // years for one unit of the variable
	coefficients []float64 // seconds, from the constant upwards
}{
	{500, 0, 100, []float64{10583.6, -1014.41, 33.78311, -5.952053, -0.1798452, 0.022174192, 0.0090316521}},
	{1600, 1000, 100, []float64{1574.2, -556.01, 71.23472, 0.319781, -0.8503463, -0.005050998, 0.0083572073}},
	{1700, 1600, 1, []float64{120, -0.9808, -0.01532, 1.0 / 7129}},
	{1800, 1700, 1, []float64{8.83, 0.1603, -0.0059285, 0.00013336, -1.0 / 1174000}},
	{1860, 1800, 1, []float64{13.72, -0.332447, 0.0068612, 0.0041116, -0.00037436, 0.0000121272, -0.0000001699, 0.000000000875}},
	{1900, 1860, 1, []float64{7.62, 0.5737, -0.251754, 0.01680668, -0.0004473624, 1.0 / 233174}},
	{1920, 1900, 1, []float64{-2.79, 1.494119, -0.0598939, 0.0061966, -0.000197}},
	{1941, 1920, 1, []float64{21.20, 0.84493, -0.076100, 0.0020936}},
	{1961, 1950, 1, []float64{29.07, 0.407, -1.0 / 233, 1.0 / 2547}},
	{1986, 1975, 1, []float64{45.45, 1.067, -1.0 / 260, -1.0 / 718}},
	{2005, 2000, 1, []float64{63.86, 0.3345, -0.060374, 0.0017275, 0.000651814, 0.00002373599}},
	{2050, 2000, 1, []float64{62.92, 0.32217, 0.005589}},
	{2150, 1820, 100, []float64{-205.724, 56.28, 32}},
}

// polynomial returns c[0] + c[1]·x + c[2]·x² and so on.
func polynomial(x float64, c ...float64) float64 {
	total := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		total = total*x + c[i]
	}
	return total
}

func sin(degrees float64) float64 { return math.Sin(degrees * math.Pi / 180) }
func cos(degrees float64) float64 { return math.Cos(degrees * math.Pi / 180) }
