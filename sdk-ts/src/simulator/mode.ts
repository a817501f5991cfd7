declare global {
  /** Set by `opentabs plugin test` in the engine in which tests run. */
  var __opentabsSimulated: unknown;
}

/** Reports whether this code runs under `opentabs plugin test`. */
export function isSimulated(): boolean {
  return globalThis.__opentabsSimulated === true;
}

/** Put in by the program: how long a test may take in a real browser, in milliseconds; 0 if pages are played. */
declare const OPENTABS_TEST_REAL_MS: number;

/** Returns how long a test may take if tabs are those of a real browser, in milliseconds; 0 if they are played. */
export function realMs(): number {
  return isSimulated() ? OPENTABS_TEST_REAL_MS : 0;
}

/** Says that a test wants something that a real browser can't be made to do. */
export class NotInBrowser extends Error {}
