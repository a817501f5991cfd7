declare global {
  /** True in the JavaScript engine of `opentabs plugin test`. */
  var __opentabsSimulated: unknown;
}

/** Reports whether this code runs under `opentabs plugin test`. */
export function isSimulated(): boolean {
  return globalThis.__opentabsSimulated === true;
}

/**
 * The time limit of one test in a real browser, in milliseconds; 0 for simulated pages. The build replaces
 * OPENTABS_TEST_REAL_MS with the time limit.
 */
declare const OPENTABS_TEST_REAL_MS: number;

/** Returns the time limit of one test in a real browser, in milliseconds; 0 for simulated pages. */
export function realTimeoutMs(): number {
  return isSimulated() ? OPENTABS_TEST_REAL_MS : 0;
}

/** Error of a test that uses an option which only simulated pages support. */
export class NotInBrowser extends Error {}
