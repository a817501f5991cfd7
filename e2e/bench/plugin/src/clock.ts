/**
 * measureClockLead returns how far Date.now() is ahead of performance.timeOrigin + performance.now(), in milliseconds
 * with a fraction. The two clocks of a page can differ. measureClockLead takes 15 ms.
 */
export function measureClockLead(): number {
  const leads: number[] = [];
  while (leads.length < 15) {
    const before = Date.now();
    while (Date.now() === before); // wait for the start of the next millisecond
    leads.push(Date.now() - performance.timeOrigin - performance.now());
  }
  return leads.sort((a, b) => a - b)[7] ?? 0;
}

/** preciseNow is the system's clock in milliseconds since 1970, with a fraction; Chrome rounds the value to 0.1 ms. */
export function preciseNow(clockLead: number): number {
  return performance.timeOrigin + performance.now() + clockLead;
}
