package main

import (
	"slices"
	"time"
)

const (
	// maxBlocks is the number of blocks of one comparison. On a busy machine, a comparison
	// ends after maxCompareTime, but not before it has minBlocks blocks.
	maxBlocks      = 150
	minBlocks      = 40
	maxCompareTime = 4 * time.Second
)

// compareTimes returns the time of ours as a multiple of the time of floor. The two
// alternate in short blocks of runs. Other programs on the machine only make a run
// slower, so compareTimes compares the fast blocks.
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

// medianTime returns the median time of runs of f.
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

// fastTime returns the 20 % quantile of times.
func fastTime(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/5]
}
