import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { addClient } from '../../harness/daemon-api.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import type { StartAnswer } from '../go.ts';
import { addPlugins, pluginCount, totalToolCount } from '../many-plugins.ts';
import { atMost, formatMegabytes, formatMs, formatTimes, type Row } from '../row.ts';
import { median } from '../samples.ts';
import { type LaunchTimes, measureLaunch } from './launch.ts';
import { clientTokenFile, makeMemoryRow, measureFloorStart, measureServeStart, settleMs, startCount } from './start.ts';

type Start = z.infer<typeof StartAnswer>;

/** measurePlugins measures the start time and the memory of a server with many large plugins. */
export async function measurePlugins(fixture: BenchFixture): Promise<Row[]> {
  const home = join(fixture.home, 'plugins');
  await addPlugins(home);
  await writeFile(clientTokenFile(home), await addClient({ OPENTABS_HOME: home }, 'bench'));
  const first = await measureServeStart(fixture, home, { list: true });
  const ours: Start[] = [];
  const floor: Start[] = [];
  for (let i = 0; i < startCount; i++) {
    floor.push(await measureFloorStart(fixture));
    ours.push(await measureServeStart(fixture, home, { list: true }));
  }
  await rm(join(home, 'plugin-index'));
  const without = await measureServeStart(fixture, home, { list: true });
  const alone = await measureServeStart(fixture, home, { settle: settleMs, list: true });
  const withPlugins = await measureLaunch(
    home,
    Array.from({ length: 6 }, (_, i) => `many-${60 + i}`),
  );
  const withoutPlugins = await measureLaunch(join(fixture.home, 'no-plugins'), []);
  const p50 = (all: readonly Start[], what: 'acceptsMs' | 'healthMs' | 'listMs') => median(all.map((s) => s[what]));
  const typicalMs = (all: readonly Start[], what: 'acceptsMs' | 'healthMs' | 'listMs') =>
    formatTimes(all.map((s) => s[what]));
  const many = `${pluginCount} plugins of 0.06 to 0.9 MB with ${totalToolCount} tools`;
  const hasAllTools = [first, without, ...ours].every((s) => s.tools >= totalToolCount);
  return [
    {
      id: 'plugins',
      what: `${many}: exec to a port that accepts, p50`,
      ours: typicalMs(ours, 'acceptsMs'),
      floor: typicalMs(floor, 'acceptsMs'),
      value: p50(ours, 'acceptsMs') / p50(floor, 'acceptsMs'),
      bar: atMost(1.2, 'x'),
    },
    {
      id: 'plugins',
      what: 'exec to the answer of /healthz, p50',
      ours: typicalMs(ours, 'healthMs'),
      floor: typicalMs(floor, 'healthMs'),
      value: p50(ours, 'healthMs') / p50(floor, 'healthMs'),
      bar: atMost(1.5, 'x'),
    },
    {
      id: 'plugins',
      what: 'exec to all tools, listed over MCP, p50',
      ours: typicalMs(ours, 'listMs'),
      floor: typicalMs(floor, 'healthMs'),
      value: p50(ours, 'listMs'),
      bar: atMost(200, 'ms'),
      note: `the first start after they were added took ${formatMs(first.listMs)}, one without an index ${formatMs(without.listMs)}`,
      ...(hasAllTools ? {} : { broken: 'a list lacked tools' }),
    },
    makeMemoryRow('plugins', 'resident memory with them, their tools listed, no browser', alone, 45),
    makeMemoryRow('plugins', 'the same with a browser that uses one of them', withPlugins.server, 80),
    ...launchRows(withPlugins, withoutPlugins),
  ];
}

/** launchRows compares the launch times of browsers with and without the plugins. */
function launchRows(withPlugins: LaunchTimes, withoutPlugins: LaunchTimes): Row[] {
  const times = [
    {
      what: 'browser launch, new profile, to the first answer of a plugin, p50',
      of: withPlugins.firstMs,
      limitMs: 1000,
    },
    { what: 'the same profile again, the same plugin, p50', of: withPlugins.againMs, limitMs: 1000 },
    { what: 'the same profile again, a plugin that was never used in it, p50', of: withPlugins.otherMs, limitMs: 1000 },
  ];
  const moreBytes = withPlugins.pssBytes - withoutPlugins.pssBytes;
  return [
    ...times.map(
      ({ what, of, limitMs }): Row => ({
        id: 'plugins',
        what,
        ours: formatTimes(of),
        floor: formatTimes(withoutPlugins.pageMs),
        value: median(of),
        bar: atMost(limitMs, 'ms'),
        note: 'the floor is the same launch to a page that is there, without plugins',
      }),
    ),
    {
      id: 'plugins',
      what: `memory (PSS) of the browser and all its processes with them, over withoutPlugins, ${settleMs / 1000} s later`,
      ours: `${formatMegabytes(withPlugins.pssBytes)} over ${formatMegabytes(withoutPlugins.pssBytes)}`,
      value: moreBytes / 1e6,
      bar: atMost(60, 'MB'),
    },
  ];
}
