import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeLayoutShiftScore, describeEvents, describePageLoad, parsePageMetrics } from './figures.ts';

function parseMetrics(values: object) {
  const pageMetrics = parsePageMetrics(JSON.stringify(values));
  assert.ok(pageMetrics);
  return pageMetrics;
}

test('the layout shift score is the highest score of any group of layout shifts', () => {
  const computeShiftScore = (...shifts: [atMs: number, value: number][]) =>
    Math.round(1000 * computeLayoutShiftScore(shifts.map(([atMs, value]) => ({ atMs, value })))) / 1000;
  assert.equal(computeShiftScore(), 0);
  assert.equal(computeShiftScore([0, 0.1], [900, 0.1], [2000, 0.15]), 0.2);
  assert.equal(computeShiftScore([2000, 0.15], [0, 0.1], [1000, 0.1]), 0.15);
  // A group of layout shifts ends 5 s after its first shift, even if further shifts follow without a pause.
  assert.equal(
    computeShiftScore(...[0, 900, 1800, 2700, 3600, 4500, 5400].map((at): [number, number] => [at, 0.1])),
    0.6,
  );
});

test('INP ignores the slowest of 50 interactions', () => {
  const shownInteractions = [900, 300, 100].map((durationMs) => ({
    atMs: 10,
    durationMs,
    type: 'click',
    element: 'button#go',
    delayMs: 1,
    handlersMs: 50,
  }));
  const computeInp = (interactionCount: number) =>
    describeEvents(parseMetrics({ interactions: shownInteractions, interactionCount }), () => false)[0];
  assert.equal(computeInp(3), 'INP 900 ms (poor), 3 interactions');
  assert.equal(computeInp(50), 'INP 300 ms (needs improvement), 50 interactions');
});

test('describePageLoad rates the metrics of a page load, and masks secrets in the address of the LCP element', () => {
  const metricLines = describePageLoad(
    parseMetrics({
      navigation: { type: 'reload', firstByteMs: 12, domReadyMs: 50.4, loadMs: 0 },
      firstPaintMs: 2000,
      lcp: { atMs: 12_345, size: 5000, url: 'https://shop.example/hero.png?token=S3CRET', element: 'img#hero "Sale"' },
    }),
  );
  assert.deepEqual(metricLines, [
    'TTFB 12 ms (good)',
    'DOM ready 50 ms, not loaded yet (reload)',
    'FCP 2000 ms (needs improvement)',
    'LCP 12.3 s (poor): img#hero "Sale" https://shop.example/hero.png?token=[masked], 5000 px²',
  ]);
});

test('describeEvents names the script of a long task unless the script is from a forbidden site', () => {
  const pageMetrics = parseMetrics({
    longTasks: [{ atMs: 100, durationMs: 250, kind: 'self' }],
    longTaskCount: 1,
    scripts: [
      { atMs: 110, durationMs: 200, url: 'https://shop.example/a.js', name: 'boot', invoker: 'BUTTON.onclick' },
    ],
  });
  assert.deepEqual(describeEvents(pageMetrics, () => false).slice(-2), [
    'Long tasks: 1, 250 ms in all, 200 ms over 50 ms each',
    '  at 100 ms: 250 ms https://shop.example/a.js (boot, BUTTON.onclick) 200 ms',
  ]);
  assert.equal(describeEvents(pageMetrics, () => true).at(-1), '  at 100 ms: 250 ms');
});

test('parsePageMetrics returns undefined for malformed data', () => {
  for (const answer of [undefined, 7, '', '[]', '{', 'null']) assert.equal(parsePageMetrics(answer), undefined);
  const pageMetrics = parseMetrics({
    shifts: [{ value: 'x', sources: [1] }],
    interactions: 5,
    lcp: { element: 'a\nb' },
  });
  assert.equal(pageMetrics.shifts[0]?.value, 0);
  assert.equal(pageMetrics.lcp?.element, 'a b');
});
