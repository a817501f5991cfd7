import { messageOf } from '../runtime/value.ts';
import { isSimulated, NotInBrowser, realMs } from './mode.ts';
import { clock, openPage } from './page.ts';
import { asking, forgetAsked, said } from './real.ts';

/** One test of a file. */
interface Test {
  readonly name: string;
  readonly work: () => unknown;
}

/** What the program is told of the tests. */
type News =
  | { op: 'begin'; test: string }
  | { op: 'end'; test: string; error?: string; stack?: string; virtualMs: number }
  | { op: 'skipped'; test: string; error: string }
  /** Nothing can run before something is heard or this time has passed. */
  | { op: 'wait'; ms: number }
  | { op: 'done'; tests: number };

/** How much virtual time a test may take, in milliseconds: an hour. */
const longestMs = 3_600_000;

/** Put in by the program: a regular expression for the names of the tests that run; empty for all. */
declare const OPENTABS_TEST_FILTER: string;

const tests: Test[] = [];
let next = 0;
let current: { test: Test; began: number; over: boolean } | undefined;
let news: News[] = [];

/** Adds a test to its file. The tests of a file run in their order, one after the other. */
export function test(name: string, work: () => unknown): void {
  if (!isSimulated()) throw new Error('test: run this file with `opentabs plugin test`; under Node use node:test');
  if (new RegExp(OPENTABS_TEST_FILTER).test(name)) tests.push({ name, work });
}

/** Goes one step on, and returns what has happened as JSON. The program calls it until it is told `done`. */
export function step(): string {
  if (!current) begin();
  else if (!current.over) advance(current);
  if (current?.over) current = undefined;
  const told = JSON.stringify([...said(), ...news]);
  news = [];
  return told;
}

function begin(): void {
  const test = tests[next];
  if (!test) {
    news.push({ op: 'done', tests: tests.length });
    return;
  }
  next++;
  const running = { test, began: clock.now, over: false };
  current = running;
  news.push({ op: 'begin', test: test.name });
  openPage({});
  forgetAsked();
  Promise.resolve()
    .then(test.work)
    .then(
      () => end(running),
      (error: unknown) => end(running, error ?? new Error('it threw nothing')),
    );
}

function advance(running: { test: Test; began: number; over: boolean }): void {
  const limit = realMs();
  const left = (limit || longestMs) - (clock.now - running.began);
  if (left < 0) {
    end(
      running,
      new Error(
        limit > 0
          ? `the test did not end within ${limit / 1000} s; nothing makes time pass faster in a real browser, so give it more with --timeout or leave it out with --filter`
          : 'the test did not end within an hour of virtual time; look for something that is asked for again and again',
      ),
    );
    return;
  }
  try {
    const due = clock.due();
    if (due === undefined && !asking())
      end(running, new Error('the test waits for something that never comes; is an answer or an event missing?'));
    else if (limit > 0 && due !== 0) news.push({ op: 'wait', ms: Math.min(due ?? left, left) + 1 });
    else clock.next();
  } catch (error) {
    end(running, error);
  }
}

function end(running: { test: Test; began: number; over: boolean }, error?: unknown): void {
  if (running.over) return;
  running.over = true;
  const virtualMs = clock.now - running.began;
  if (error === undefined) {
    news.push({ op: 'end', test: running.test.name, virtualMs });
    return;
  }
  if (error instanceof NotInBrowser) {
    news.push({ op: 'skipped', test: running.test.name, error: error.message });
    return;
  }
  const stack = error instanceof Error ? error.stack : undefined;
  news.push({
    op: 'end',
    test: running.test.name,
    error: messageOf(error),
    virtualMs,
    ...(stack !== undefined && { stack }),
  });
}
