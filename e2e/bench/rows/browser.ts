import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchFixture } from '../bench-fixture.ts';
import type { Agent } from '../browser/agent.ts';
import { type BenchBrowsers, startBenchBrowsers } from '../browser/lab.ts';
import { shopSteps } from '../browser/shop.ts';
import { runTask, type TaskResult } from '../browser/task.ts';
import { type BenchRow, formatMs, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';
import { measureClick, measureEvaluate, measurePictures, measureSnapshots, measureToolList } from './browser-speed.ts';
import { measureMixedCalls, measurePageMemory } from './browser-tabs.ts';

const id = 'browser';

/** For example, BROWSER=task,click runs only the measurements task and click. */
const browserParts: Readonly<Record<string, (benchBrowsers: BenchBrowsers) => Promise<BenchRow[]>>> = {
  list: measureToolList,
  snapshot: measureSnapshots,
  click: measureClick,
  picture: measurePictures,
  evaluate: measureEvaluate,
  task: measureTask,
  mixed: measureMixedCalls,
  memory: measurePageMemory,
};

export async function measureBrowser(fixture: BenchFixture): Promise<BenchRow[]> {
  const benchBrowsers = await startBenchBrowsers(fixture);
  const selectedParts = process.env.BROWSER?.split(',') ?? Object.keys(browserParts);
  const benchRows: BenchRow[] = [];
  for (const [name, measureBrowserPart] of Object.entries(browserParts)) {
    if (!selectedParts.includes(name)) continue;
    try {
      benchRows.push(...(await measureBrowserPart(benchBrowsers)));
    } catch (error) {
      benchRows.push({
        id,
        what: `the part ${name} could not be measured`,
        ours: '',
        broken: String(error),
      });
    }
  }
  return benchRows;
}

const taskRunCount = 5;

async function measureTask(benchBrowsers: BenchBrowsers): Promise<BenchRow[]> {
  const resultsByAgent = new Map<Agent, TaskResult[]>(benchBrowsers.benchAgents.map((agent) => [agent, []]));
  await benchBrowsers.opentabsBrowser.openTab(`${benchBrowsers.site.origin}/orders?nodes=100`);
  const makeFilePath = (folder: string) => join(folder, 'engraving.txt');
  const [opentabsUploadFile, peerUploadFile] = [
    makeFilePath(benchBrowsers.opentabsBrowser.uploadFolder),
    makeFilePath(tmpdir()),
  ];
  for (const file of [opentabsUploadFile, peerUploadFile]) writeFileSync(file, 'Ada to Grace');
  for (let i = 0; i < taskRunCount; i++) {
    for (const [agent, taskResults] of resultsByAgent) {
      const runName = `${agent.name.replaceAll(/\W/g, '')}-${i}`;
      taskResults.push(
        await runTask(
          agent,
          benchBrowsers.site,
          runName,
          agent === benchBrowsers.agent ? opentabsUploadFile : peerUploadFile,
        ),
      );
    }
  }
  const opentabsResults = resultsByAgent.get(benchBrowsers.agent) ?? [];
  const findBestPeerMedian = (readNumber: (result: TaskResult) => number) => {
    const peerResults = [...resultsByAgent].filter(
      ([agent, taskResults]) => agent !== benchBrowsers.agent && taskResults.every(isTaskComplete),
    );
    return peerResults.length === 0
      ? undefined
      : Math.min(...peerResults.map(([, taskResults]) => computeMedian(taskResults.map(readNumber))));
  };
  const benchRows: BenchRow[] = [];
  for (const [agent, taskResults] of resultsByAgent) benchRows.push(describeTask(agent, taskResults));
  const compareAgents = (rowTitle: string, readNumber: (result: TaskResult) => number) => {
    const bestPeerValue = findBestPeerMedian(readNumber);
    const medianValue = computeMedian(opentabsResults.map(readNumber));
    if (bestPeerValue !== undefined)
      benchRows.push({
        id,
        what: rowTitle,
        ours: medianValue.toFixed(0),
        floor: bestPeerValue.toFixed(0),
        value: medianValue / bestPeerValue,
        threshold: makeUpperThreshold(1, 'x best peer'),
      });
  };
  compareAgents('task of ten steps: milliseconds', ({ durationMs: ms }) => ms);
  compareAgents('task of ten steps: calls', ({ calls }) => calls);
  compareAgents('task of ten steps: tokens in and out', ({ tokensIn, tokensOut }) => tokensIn + tokensOut);
  return benchRows;
}

const isTaskComplete = ({ doneSteps: doneStepNames }: TaskResult) => doneStepNames.length === shopSteps.length;

function describeTask(agent: Agent, taskResults: readonly TaskResult[]): BenchRow {
  const computeResultMedian = (readNumber: (result: TaskResult) => number) =>
    computeMedian(taskResults.map(readNumber));
  const [tokensIn, tokensOut] = [
    computeResultMedian((result) => result.tokensIn),
    computeResultMedian((result) => result.tokensOut),
  ];
  const failedResult = taskResults.find((result) => !isTaskComplete(result));
  const stepCounts = taskResults.map(({ doneSteps: doneStepNames }) => doneStepNames.length).join(', ');
  const missingSteps =
    failedResult && shopSteps.filter((shopStep) => !failedResult.doneSteps.includes(shopStep)).join(', ');
  return {
    id,
    what: `task of ten steps by ${agent.name}`,
    ours: `${formatMs(computeResultMedian(({ durationMs: ms }) => ms))}, ${computeResultMedian(({ calls }) => calls)} calls, ${tokensIn} + ${tokensOut} tokens`,
    floor: `steps done: ${stepCounts}`,
    ...(failedResult
      ? { [agent.name === 'opentabs' ? 'broken' : 'note']: `missing ${missingSteps}; ${failedResult.failure}` }
      : {}),
  };
}
