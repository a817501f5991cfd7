import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPluginDevelopment } from '../../harness/author.ts';
import { runOrThrow } from '../../harness/process.ts';
import { pause } from '../../harness/wait.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { type BenchRow, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

const editCount = 12;

/**
 * measureHotReload measures the hot reload of a plugin: the time from saving a source file until a call runs the new
 * code.
 */
export async function measureHotReload(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  await stack.page.bringToFront();
  const author = await startPluginDevelopment(stack, 'edited');
  const client = await stack.connectHttp();
  const callTimes: number[] = [];
  const baselineTimes: number[] = [];
  try {
    let currentTitle = 'document.title';
    for (let i = 0; i < editCount; i++) {
      await pause(500); // a plugin's author also pauses between two saves
      const newTitle = `'edit ${i}'`;
      const startMs = performance.now();
      author.replaceText('src/tools/describe-page.ts', `title: ${currentTitle}`, `title: ${newTitle}`);
      while (!(await client.call('edited__describe_page')).text.includes(`edit ${i}"`)) await pause(5);
      callTimes.push(performance.now() - startMs);
      currentTitle = newTitle;
    }
    const code = join(author.pluginFolder, 'dist', 'adapter.iife.js');
    for (let i = 0; i < editCount; i++) {
      const beganMs = performance.now();
      await runOrThrow(['plugin', 'build', author.pluginFolder], stack.env);
      await stack.page.evaluate(`(() => { const globalThis = {}; ${readFileSync(code, 'utf8')} })(), 1`);
      baselineTimes.push(performance.now() - beganMs);
    }
  } finally {
    await author.end();
    await runOrThrow(['plugin', 'remove', 'edited'], stack.env);
  }
  return [
    {
      id: 'dev',
      what: 'time from saving a file under plugin dev to a call that the new code answers, p50',
      ours: formatTimes(callTimes),
      floor: formatTimes(baselineTimes),
      value: computeMedian(callTimes),
      threshold: makeUpperThreshold(1000, 'ms'),
      note: 'the floor is opentabs plugin build and the adapter evaluated in the page by the DevTools protocol',
    },
  ];
}
