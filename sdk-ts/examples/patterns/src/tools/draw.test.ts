import assert from 'node:assert/strict';
import test from 'node:test';
import { drawTool } from './draw.ts';

/** A fake canvas that records the drawn bars. `convertToBlob` returns the list of bars as text instead of a picture. */
class FakeCanvas {
  readonly drawnBars: string[] = [];

  readonly size: string;

  constructor(width: number, height: number) {
    this.size = `${width}x${height}`;
  }

  getContext() {
    return { fillRect: (x: number, y: number, w: number, h: number) => this.drawnBars.push([x, y, w, h].join(' ')) };
  }

  async convertToBlob({ type }: { type: string }) {
    return new Blob([`${this.size}: ${this.drawnBars.join(', ')}`], { type });
  }
}

test('the tool draw returns a chart with a bar for each number', async (t) => {
  Object.defineProperty(globalThis, 'OffscreenCanvas', { value: FakeCanvas, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'OffscreenCanvas'));
  const { bars, chart } = drawTool.output.parse(await drawTool.handle({ values: [1, 4] }));
  assert.equal(bars, 2);
  assert.equal(chart.mimeType, 'image/png');
  assert.equal(atob(chart.data), '20x100: 0 75 9 25, 10 0 9 100');
  assert.match(atob((await drawTool.handle({ values: [0] })).chart.data), /0 100 9 0$/);
});
