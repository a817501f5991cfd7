package main

import (
	"slices"
	"time"
)

const (
	// maxBlocks is the maximum number of blocks of runs that a comparison measures for
	// each of the two functions. On a busy machine, a comparison ends after
	// maxCompareTime, but measures at least minBlocks blocks.
	maxBlocks      = 150
	minBlocks      = 40
	maxCompareTime = 4 * time.Second
)

// compareTimes runs the functions ours and floor, and returns the time of ours divided by the
// time of floor. compareTimes alternates between short blocks of runs of each function, so
// that a busy machine slows down both functions equally. Other programs on the machine can
// only slow a run down, so compareTimes compares the fast blocks of both functions.
func compareTimes(runs int, floor, ours func() error) (float64, error) {
	var floorTimes, ourTimes []time.Duration
	begin := time.Now()
	for i := 0; i <= maxBlocks && (i <= minBlocks || time.Since(begin) < maxCompareTime); i++ {
		floorTime, err := medianTime(runs, floor)
		if err != nil {
			return 0, err
		}
		ourTime, err := medianTime(runs, ours)
		if err != nil {
			return 0, err
		}
		if i > 0 { // the first block warms up
			floorTimes, ourTimes = append(floorTimes, floorTime), append(ourTimes, ourTime)
		}
	}
	return float64(fastTime(ourTimes)) / float64(fastTime(floorTimes)), nil
}

// medianTime runs the function f the given number of times and returns the median
// duration of a run.
func medianTime(runs int, f func() error) (time.Duration, error) {
	times := make([]time.Duration, runs)
	for i := range times {
		begin := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times[i] = time.Since(begin)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// fastTime returns the 20th percentile of times, and sorts times.
func fastTime(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/5]
}
