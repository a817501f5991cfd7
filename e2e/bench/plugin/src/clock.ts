/**
 * measureClockLead takes 15 ms to measure how far Date.now() is ahead of performance.timeOrigin + performance.now().
 */
export function measureClockLead(): number {
  const leadTimes: number[] = [];
  while (leadTimes.length < 15) {
    const beforeMs = Date.now();
    while (Date.now() === beforeMs); // wait for the start of the next millisecond
    leadTimes.push(Date.now() - performance.timeOrigin - performance.now());
  }
  return leadTimes.sort((a, b) => a - b)[7] ?? 0;
}

/** readPreciseTimeMs returns the system time in milliseconds since 1970, with a resolution of 0.1 ms in Chrome. */
export function readPreciseTimeMs(clockLead: number): number {
  return performance.timeOrigin + performance.now() + clockLead;
}
