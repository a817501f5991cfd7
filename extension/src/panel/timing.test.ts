import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPhase, makeTimingRows, sumPhases } from './timing.ts';

test("makeTimingRows returns the start and end of each phase as fractions of the call's time", () => {
  const callPhases = [
    { name: 'gates', startMs: 0, ms: 10 },
    { name: 'approval', startMs: 10, ms: 1190 },
    { name: 'han\u202edler', startMs: 1200, ms: 800 },
  ];
  assert.equal(sumPhases(callPhases), 2000);
  const timingRows = makeTimingRows(callPhases);
  assert.deepEqual(
    timingRows.map(({ name, startText, durationText }) => `${name} ${startText} ${durationText}`),
    ['gates 0 ms 10 ms', 'approval 10 ms 1.1 s', 'handler 1.2 s 800 ms'],
  );
  const roundFraction = (fraction: number) => Math.round(fraction * 1000) / 1000;
  assert.deepEqual(
    timingRows.map(({ barStart, end }) => [roundFraction(barStart), roundFraction(end)]),
    [
      [0, 0.01],
      [0.005, 0.6],
      [0.6, 1],
    ],
  );
});

test('makeTimingRows never places a bar outside the time of the call', () => {
  assert.deepEqual(makeTimingRows([]), []);
  assert.equal(sumPhases([]), 0);
  const [emptyPhase] = makeTimingRows([{ name: 'queue', startMs: 0, ms: 0 }]);
  assert.deepEqual([emptyPhase?.barStart, emptyPhase?.end, emptyPhase?.durationText], [0, 1, '0 ms']);
  const lastRow = makeTimingRows([
    { name: 'handler', startMs: 0, ms: 5000 },
    { name: 'return', startMs: 5000, ms: 0.2 },
  ]).at(-1);
  assert.deepEqual([lastRow?.barStart, lastRow?.end, lastRow?.durationText], [0.99, 1, '0.2 ms']);
});

test('formatPhase formats durations of 10 ms and more with at least two digits', () => {
  const phaseTexts = [0.01, 0.2, 9.94, 9.96, 40.4, 999, 1200, 12_000, 302_000].map(formatPhase);
  assert.deepEqual(phaseTexts, [
    '<0.1 ms',
    '0.2 ms',
    '9.9 ms',
    '10 ms',
    '40 ms',
    '999 ms',
    '1.2 s',
    '12 s',
    '5 min 02 s',
  ]);
});
