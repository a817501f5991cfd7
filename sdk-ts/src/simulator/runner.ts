import { isMethod, readMessage } from '../runtime/value.ts';
import { drainCallDiagnostics, type FailedCall } from './failures.ts';
import { isSimulated, readRealTimeoutMs, UnsupportedInBrowserError } from './mode.ts';
import { clock, openPage } from './page.ts';
import { drainOutgoingMessages, hasPendingRequests, resetBrowser } from './real.ts';

interface Test {
  readonly name: string;
  readonly testBody: () => unknown;
}

type TestEvent =
  | { op: 'begin'; test: string }
  | {
      op: 'end';
      test: string;
      error?: string;
      stack?: string;
      virtualMs: number;
      failedCalls?: readonly FailedCall[];
      hints?: readonly string[];
    }
  | { op: 'skipped'; test: string; error: string }
  /** The test file has no more work until a browser message arrives, or until `ms` milliseconds have passed. */
  | { op: 'wait'; ms: number }
  | { op: 'done'; tests: number };

/** The longest virtual time that one test may take: an hour, in milliseconds. */
const maxVirtualMs = 3_600_000;

/** If nothing awaits a promise, the promise can be rejected after the test's function has returned. */
const passedTestSettleMs = 1000;

/** maxSettleTimers limits the timers that run after a passed test, because a timer may restart itself endlessly. */
const maxSettleTimers = 1000;

declare const OPENTABS_TEST_FILTER: string;

declare global {
  /** The script internal/jsbuild/rejections.js defines the function __opentabsUnhandled. */
  var __opentabsUnhandled: unknown;
}

interface RunningTest {
  readonly test: Test;
  readonly startedAt: number;
  testPassedAtMs: number | undefined;
  settleTimerCount: number;
  isOver: boolean;
}

const registeredTests: Test[] = [];
let nextTestIndex = 0;
let currentTest: RunningTest | undefined;
let events: TestEvent[] = [];

/** Registers a test. The tests of one file run one after another, either in a simulated page or in a real browser. */
export function test(name: string, testBody: () => unknown): void {
  if (!isSimulated()) throw new Error('test: run this file with `opentabs plugin test`; under Node use node:test');
  if (new RegExp(OPENTABS_TEST_FILTER).test(name)) registeredTests.push({ name, testBody });
}

/** `opentabs plugin test` calls runTestStep repeatedly until runTestStep returns the message `done`. */
export function runTestStep(): string {
  if (!currentTest) startTest();
  else if (!currentTest.isOver) advanceTest(currentTest);
  if (currentTest?.isOver) currentTest = undefined;
  const batch = JSON.stringify([...drainOutgoingMessages(), ...events]);
  events = [];
  return batch;
}

function startTest(): void {
  const test = registeredTests[nextTestIndex];
  if (!test) {
    events.push({ op: 'done', tests: registeredTests.length });
    return;
  }
  nextTestIndex++;
  const runningTest: RunningTest = {
    test,
    startedAt: clock.now,
    testPassedAtMs: undefined,
    settleTimerCount: 0,
    isOver: false,
  };
  currentTest = runningTest;
  events.push({ op: 'begin', test: test.name });
  openPage({});
  resetBrowser();
  drainUnhandledErrors();
  drainCallDiagnostics();
  Promise.resolve()
    .then(test.testBody)
    .then(
      () => {
        runningTest.testPassedAtMs = clock.now;
      },
      (error: unknown) => endTest(runningTest, error ?? new Error(`the test threw ${error}`)),
    );
}

function advanceTest(runningTest: RunningTest): void {
  if (runningTest.testPassedAtMs !== undefined) {
    settlePassedTest(runningTest, runningTest.testPassedAtMs);
    return;
  }
  const timeoutMs = readRealTimeoutMs();
  const remainingMs = (timeoutMs || maxVirtualMs) - (clock.now - runningTest.startedAt);
  if (remainingMs < 0) {
    endTest(runningTest, new Error(makeTimeoutMessage(timeoutMs)));
    return;
  }
  try {
    const nextTimerDelayMs = clock.msUntilNextTimer();
    if (nextTimerDelayMs === undefined && !hasPendingRequests())
      endTest(
        runningTest,
        new Error('the test cannot continue: it set no timer and made no request; is an answer or an event missing?'),
      );
    else if (timeoutMs > 0 && nextTimerDelayMs !== 0)
      events.push({ op: 'wait', ms: Math.min(nextTimerDelayMs ?? remainingMs, remainingMs) + 1 });
    else clock.runNextTimer();
  } catch (error) {
    endTest(runningTest, error);
  }
}

/**
 * In a real browser, settlePassedTest ends a passed test at once, because late timers would add a second to each test.
 */
function settlePassedTest(runningTest: RunningTest, testPassedAtMs: number): void {
  const nextTimerDelayMs = readRealTimeoutMs() > 0 ? undefined : clock.msUntilNextTimer();
  const isTestSettled =
    nextTimerDelayMs === undefined || clock.now + nextTimerDelayMs > testPassedAtMs + passedTestSettleMs;
  if (isTestSettled || runningTest.settleTimerCount >= maxSettleTimers) {
    endPassedTest(runningTest);
    return;
  }
  runningTest.settleTimerCount++;
  try {
    clock.runNextTimer();
  } catch {
    // The test has already passed, so an error of a late timer callback is ignored.
  }
}

function makeTimeoutMessage(realLimitMs: number): string {
  if (realLimitMs === 0) return 'the test did not end within an hour of virtual time; look for an endless polling loop';
  const seconds = realLimitMs / 1000;
  return `the test did not end within ${seconds} s; a real browser has no virtual clock: raise --timeout or skip the test with --filter`;
}

function drainUnhandledErrors(): readonly unknown[] {
  const takeUnhandledErrors = globalThis.__opentabsUnhandled;
  const errors: unknown = isMethod(takeUnhandledErrors) ? takeUnhandledErrors() : [];
  return Array.isArray(errors) ? errors : [];
}

function endPassedTest(runningTest: RunningTest): void {
  const [unhandledError] = drainUnhandledErrors();
  if (unhandledError === undefined) {
    endTest(runningTest);
    return;
  }
  const error = new Error(
    `nothing waits for a promise that was rejected: ${readMessage(unhandledError)}; add the missing await, or handle the error with catch`,
  );
  if (unhandledError instanceof Error && unhandledError.stack !== undefined) error.stack = unhandledError.stack;
  endTest(runningTest, error);
}

function endTest(runningTest: RunningTest, error?: unknown): void {
  if (runningTest.isOver) return;
  runningTest.isOver = true;
  const virtualMs = (runningTest.testPassedAtMs ?? clock.now) - runningTest.startedAt;
  const { name } = runningTest.test;
  if (error === undefined) {
    events.push({ op: 'end', test: name, virtualMs });
    return;
  }
  if (error instanceof UnsupportedInBrowserError) {
    events.push({ op: 'skipped', test: name, error: error.message });
    return;
  }
  const stack = error instanceof Error ? error.stack : undefined;
  events.push({
    op: 'end',
    test: name,
    error: readMessage(error),
    virtualMs,
    ...(stack !== undefined && { stack }),
    ...drainCallDiagnostics(),
  });
}
