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
const browserParts: Readonly<Record<string, (lab: BrowserLab) => Promise<Row[]>>> = {
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
  const lab = await startBrowserLab(fixture);
  const selected = process.env.BROWSER?.split(',') ?? Object.keys(browserParts);
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(browserParts)) {
    if (!selected.includes(name)) continue;
    try {
      rows.push(...(await measure(lab)));
    } catch (error) {
      rows.push({ id, what: `the part ${name} could not be measured`, ours: '', broken: String(error) });
    }
  }
  return rows;
}

const taskRuns = 5;

async function measureTask(lab: BrowserLab): Promise<Row[]> {
  const results = new Map<Agent, TaskResult[]>(lab.agents.map((agent) => [agent, []]));
  await lab.ourBrowser.openTab(`${lab.site.origin}/orders?nodes=100`);
  const fileIn = (folder: string) => join(folder, 'engraving.txt');
  const [ourFile, peerFile] = [fileIn(lab.ourBrowser.uploads), fileIn(tmpdir())];
  for (const file of [ourFile, peerFile]) writeFileSync(file, 'Ada to Grace');
  for (let i = 0; i < taskRuns; i++) {
    for (const [agent, list] of results) {
      const run = `${agent.name.replaceAll(/\W/g, '')}-${i}`;
      list.push(await runTask(agent, lab.site, run, agent === lab.agent ? ourFile : peerFile));
    }
  }
  const ours = results.get(lab.agent) ?? [];
  const bestPeer = (read: (result: TaskResult) => number) => {
    const peers = [...results].filter(([agent, list]) => agent !== lab.agent && list.every(isTaskComplete));
    return peers.length === 0 ? undefined : Math.min(...peers.map(([, list]) => computeMedian(list.map(read))));
  };
  const rows: Row[] = [];
  for (const [agent, list] of results) rows.push(describeTask(agent, list));
  const compare = (what: string, read: (result: TaskResult) => number) => {
    const peer = bestPeer(read);
    const value = computeMedian(ours.map(read));
    if (peer !== undefined)
      rows.push({
        id,
        what: what,
        ours: value.toFixed(0),
        floor: peer.toFixed(0),
        value: value / peer,
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
  const failed = list.find((result) => !isTaskComplete(result));
  const steps = list.map(({ doneSteps: done }) => done.length).join(', ');
  const missing = failed && shopSteps.filter((step) => !failed.doneSteps.includes(step)).join(', ');
  return {
    id,
    what: `task of ten steps by ${agent.name}`,
    ours: `${formatMs(medianOf(({ durationMs: ms }) => ms))}, ${medianOf(({ calls }) => calls)} calls, ${tokensIn} + ${tokensOut} tokens`,
    floor: `steps done: ${steps}`,
    ...(failed ? { [agent.name === 'opentabs' ? 'broken' : 'note']: `missing ${missing}; ${failed.failure}` } : {}),
  };
}
