import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { addClient } from '../../harness/daemon-api.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import type { StartAnswer } from '../go.ts';
import { addPlugins, pluginCount, totalToolCount } from '../many-plugins.ts';
import { type BenchRow, formatMegabytes, formatMs, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';
import { type LaunchTimes, measureLaunch } from './launch.ts';
import {
  makeClientTokenPath,
  makeMemoryRow,
  measureBaselineStart,
  measureServeStart,
  settleDelayMs,
  startCount,
} from './start.ts';

type StartTimes = z.infer<typeof StartAnswer>;

export async function measurePlugins(fixture: BenchFixture): Promise<BenchRow[]> {
  const pluginsHome = join(fixture.homeFolder, 'plugins');
  await addPlugins(pluginsHome);
  await writeFile(makeClientTokenPath(pluginsHome), await addClient({ OPENTABS_HOME: pluginsHome }, 'bench'));
  const firstStartTimes = await measureServeStart(fixture, pluginsHome, { list: true });
  const serverStarts: StartTimes[] = [];
  const baselineStarts: StartTimes[] = [];
  for (let i = 0; i < startCount; i++) {
    baselineStarts.push(await measureBaselineStart(fixture));
    serverStarts.push(await measureServeStart(fixture, pluginsHome, { list: true }));
  }
  await rm(join(pluginsHome, 'plugin-index'));
  const unindexedStartTimes = await measureServeStart(fixture, pluginsHome, { list: true });
  const settledStartTimes = await measureServeStart(fixture, pluginsHome, { settle: settleDelayMs, list: true });
  const launchTimesWithPlugins = await measureLaunch(
    pluginsHome,
    Array.from({ length: 6 }, (_, i) => `many-${60 + i}`),
  );
  const launchTimesWithoutPlugins = await measureLaunch(join(fixture.homeFolder, 'no-plugins'), []);
  const p50 = (starts: readonly StartTimes[], field: 'acceptsMs' | 'healthMs' | 'listMs') =>
    computeMedian(starts.map((startTimes) => startTimes[field]));
  const formatMedianTimes = (starts: readonly StartTimes[], field: 'acceptsMs' | 'healthMs' | 'listMs') =>
    formatTimes(starts.map((startTimes) => startTimes[field]));
  const pluginsText = `${pluginCount} plugins of 0.06 to 0.9 MB with ${totalToolCount} tools`;
  const hasAllTools = [firstStartTimes, unindexedStartTimes, ...serverStarts].every(
    (startTimes) => startTimes.tools >= totalToolCount,
  );
  return [
    {
      id: 'plugins',
      what: `${pluginsText}: time from the server's exec to an open port, p50`,
      ours: formatMedianTimes(serverStarts, 'acceptsMs'),
      floor: formatMedianTimes(baselineStarts, 'acceptsMs'),
      value: p50(serverStarts, 'acceptsMs') / p50(baselineStarts, 'acceptsMs'),
      threshold: makeUpperThreshold(1.2, 'x'),
    },
    {
      id: 'plugins',
      what: "time from the server's exec to an answer of /healthz, p50",
      ours: formatMedianTimes(serverStarts, 'healthMs'),
      floor: formatMedianTimes(baselineStarts, 'healthMs'),
      value: p50(serverStarts, 'healthMs') / p50(baselineStarts, 'healthMs'),
      threshold: makeUpperThreshold(1.5, 'x'),
    },
    {
      id: 'plugins',
      what: "time from the server's exec to the list of all tools over MCP, p50",
      ours: formatMedianTimes(serverStarts, 'listMs'),
      floor: formatMedianTimes(baselineStarts, 'healthMs'),
      value: p50(serverStarts, 'listMs'),
      threshold: makeUpperThreshold(200, 'ms'),
      note: `the first start after the plugins were added took ${formatMs(firstStartTimes.listMs)}, a start without an index ${formatMs(unindexedStartTimes.listMs)}`,
      ...(hasAllTools ? {} : { broken: 'a tool list was incomplete' }),
    },
    makeMemoryRow(
      'plugins',
      `resident memory of the server with ${pluginsText} and no browser, after it listed all tools`,
      settledStartTimes,
      45,
    ),
    makeMemoryRow(
      'plugins',
      `resident memory of the server with ${pluginsText} and a browser that uses one plugin`,
      launchTimesWithPlugins.server,
      80,
    ),
    ...makeLaunchRows(launchTimesWithPlugins, launchTimesWithoutPlugins),
  ];
}

function makeLaunchRows(launchTimesWithPlugins: LaunchTimes, launchTimesWithoutPlugins: LaunchTimes): BenchRow[] {
  const launchCases = [
    {
      what: 'time from the launch of a browser with a new profile to the first answer of a plugin, p50',
      launchMs: launchTimesWithPlugins.newProfileCallTimes,
      limitMs: 1000,
    },
    {
      what: 'time from the launch of a browser with a used profile to an answer of a plugin used before, p50',
      launchMs: launchTimesWithPlugins.samePluginCallTimes,
      limitMs: 1000,
    },
    {
      what: 'time from the launch of a browser with a used profile to an answer of a plugin not used before, p50',
      launchMs: launchTimesWithPlugins.otherPluginCallTimes,
      limitMs: 1000,
    },
  ];
  const addedPssBytes = launchTimesWithPlugins.pssBytes - launchTimesWithoutPlugins.pssBytes;
  return [
    ...launchCases.map(
      ({ what: rowTitle, launchMs, limitMs }): BenchRow => ({
        id: 'plugins',
        what: rowTitle,
        ours: formatTimes(launchMs),
        floor: formatTimes(launchTimesWithoutPlugins.pageLoadTimes),
        value: computeMedian(launchMs),
        threshold: makeUpperThreshold(limitMs, 'ms'),
        note: 'the floor is the same launch without plugins, until a page is open',
      }),
    ),
    {
      id: 'plugins',
      what: `memory (PSS) of the browser and all its processes with the plugins, compared with no plugins, ${settleDelayMs / 1000} s later`,
      ours: `${formatMegabytes(launchTimesWithPlugins.pssBytes)} over ${formatMegabytes(launchTimesWithoutPlugins.pssBytes)}`,
      value: addedPssBytes / 1e6,
      threshold: makeUpperThreshold(60, 'MB'),
    },
  ];
}
