import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchFixture } from '../bench-fixture.ts';
import type { Agent } from '../browser/agent.ts';
import { type BrowserLab, startBrowserLab } from '../browser/lab.ts';
import { shopSteps } from '../browser/shop.ts';
import { runTask, type TaskResult } from '../browser/task.ts';
import { formatMs, makeUpperThreshold, type Row } from '../row.ts';
import { computeMedian } from '../samples.ts';
import { measureClick, measureEvaluate, measurePictures, measureSnapshots, measureToolList } from './browser-speed.ts';
import { measureMixedCalls, measurePageMemory } from './browser-tabs.ts';

const id = 'browser';

/** For example, BROWSER=task,click runs only the measurements task and click. */
const browserParts: Readonly<Record<string, (browserLab: BrowserLab) => Promise<Row[]>>> = {
  list: measureToolList,
  snapshot: measureSnapshots,
  click: measureClick,
  picture: measurePictures,
  evaluate: measureEvaluate,
  task: measureTask,
  mixed: measureMixedCalls,
  memory: measurePageMemory,
};

export async function measureBrowser(fixture: BenchFixture): Promise<Row[]> {
  const browserLab = await startBrowserLab(fixture);
  const selected = process.env.BROWSER?.split(',') ?? Object.keys(browserParts);
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(browserParts)) {
    if (!selected.includes(name)) continue;
    try {
      rows.push(...(await measure(browserLab)));
    } catch (error) {
      rows.push({
        id,
        what: `the part ${name} could not be measured`,
        ours: '',
        broken: String(error),
      });
    }
  }
  return rows;
}

const taskRuns = 5;

async function measureTask(browserLab: BrowserLab): Promise<Row[]> {
  const resultsByAgent = new Map<Agent, TaskResult[]>(browserLab.agents.map((agent) => [agent, []]));
  await browserLab.ourBrowser.openTab(`${browserLab.site.origin}/orders?nodes=100`);
  const fileIn = (folder: string) => join(folder, 'engraving.txt');
  const [ourFile, peerFile] = [fileIn(browserLab.ourBrowser.uploads), fileIn(tmpdir())];
  for (const file of [ourFile, peerFile]) writeFileSync(file, 'Ada to Grace');
  for (let i = 0; i < taskRuns; i++) {
    for (const [agent, list] of resultsByAgent) {
      const run = `${agent.name.replaceAll(/\W/g, '')}-${i}`;
      list.push(await runTask(agent, browserLab.site, run, agent === browserLab.agent ? ourFile : peerFile));
    }
  }
  const opentabsResults = resultsByAgent.get(browserLab.agent) ?? [];
  const bestPeer = (read: (result: TaskResult) => number) => {
    const peers = [...resultsByAgent].filter(
      ([agent, list]) => agent !== browserLab.agent && list.every(isTaskComplete),
    );
    return peers.length === 0 ? undefined : Math.min(...peers.map(([, list]) => computeMedian(list.map(read))));
  };
  const rows: Row[] = [];
  for (const [agent, list] of resultsByAgent) rows.push(describeTask(agent, list));
  const compare = (rowTitle: string, read: (result: TaskResult) => number) => {
    const bestPeerValue = bestPeer(read);
    const medianValue = computeMedian(opentabsResults.map(read));
    if (bestPeerValue !== undefined)
      rows.push({
        id,
        what: rowTitle,
        ours: medianValue.toFixed(0),
        floor: bestPeerValue.toFixed(0),
        value: medianValue / bestPeerValue,
        threshold: makeUpperThreshold(1, 'x best peer'),
      });
  };
  compare('task of ten steps: milliseconds', ({ durationMs: ms }) => ms);
  compare('task of ten steps: calls', ({ calls }) => calls);
  compare('task of ten steps: tokens in and out', ({ tokensIn, tokensOut }) => tokensIn + tokensOut);
  return rows;
}

const isTaskComplete = ({ doneSteps: done }: TaskResult) => done.length === shopSteps.length;

function describeTask(agent: Agent, list: readonly TaskResult[]): Row {
  const medianOf = (read: (result: TaskResult) => number) => computeMedian(list.map(read));
  const [tokensIn, tokensOut] = [medianOf((result) => result.tokensIn), medianOf((result) => result.tokensOut)];
  const failedResult = list.find((result) => !isTaskComplete(result));
  const stepCounts = list.map(({ doneSteps: done }) => done.length).join(', ');
  const missingSteps = failedResult && shopSteps.filter((step) => !failedResult.doneSteps.includes(step)).join(', ');
  return {
    id,
    what: `task of ten steps by ${agent.name}`,
    ours: `${formatMs(medianOf(({ durationMs: ms }) => ms))}, ${medianOf(({ calls }) => calls)} calls, ${tokensIn} + ${tokensOut} tokens`,
    floor: `steps done: ${stepCounts}`,
    ...(failedResult
      ? { [agent.name === 'opentabs' ? 'broken' : 'note']: `missing ${missingSteps}; ${failedResult.failure}` }
      : {}),
  };
}
