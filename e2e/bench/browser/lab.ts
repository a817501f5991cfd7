/**
 * Starts the MCP servers whose browser tools the benchmark compares: opentabs, Playwright MCP and chrome-devtools-mcp.
 */
import type { BenchFixture } from '../bench-fixture.ts';
import { formatMs } from '../row.ts';
import { measureAlternately, type SampleSummary } from '../samples.ts';
import { Agent } from './agent.ts';
import { type OurBrowser, startOurBrowser } from './our-browser.ts';
import { type BenchSite, startBenchSite } from './pages.ts';
import { type BenchPeer, startChromeDevtools, startPlaywright } from './peers.ts';
import { opentabsTools } from './words.ts';

export interface BrowserLab {
  readonly site: BenchSite;
  readonly ourBrowser: OurBrowser;
  readonly agent: Agent;
  /**
   * The fields `playwright` and `devtools` are undefined if the folder in the environment variable PEERS lacks their
   * npm packages.
   */
  readonly playwright: Agent | undefined;
  readonly devtools: Agent | undefined;
  readonly benchAgents: readonly Agent[];
}

export async function startBrowserLab(fixture: BenchFixture): Promise<BrowserLab> {
  const site = await startBenchSite();
  fixture.onClose(() => site.close());
  const ourBrowser = await startOurBrowser('--debugger');
  fixture.onClose(() => ourBrowser.close());
  const startPeer = async (startAgent: () => Promise<BenchPeer | undefined>): Promise<Agent | undefined> => {
    const startedPeer = await startAgent();
    if (startedPeer) fixture.onClose(() => startedPeer.close());
    return startedPeer?.agent;
  };
  const playwrightAgent = await startPeer(startPlaywright);
  const devtools = await startPeer(startChromeDevtools);
  const agent = new Agent('opentabs', ourBrowser.client.sdk, opentabsTools);
  const benchAgents = [agent, playwrightAgent, devtools].filter((benchAgent) => benchAgent !== undefined);
  return { site, ourBrowser, agent, playwright: playwrightAgent, devtools, benchAgents };
}

export async function openInAllBrowsers({ site, ourBrowser, benchAgents }: BrowserLab, path: string): Promise<number> {
  const url = `${site.origin}${path}`;
  const tabId = await ourBrowser.openTab(url);
  for (const agent of benchAgents.slice(1)) await agent.call(agent.serverTools.open(url));
  return tabId;
}

export type Measurements = ReadonlyMap<string, SampleSummary>;

/** measureAgents alternates between the MCP servers; `others` contains further measurements, such as a lower bound. */
export async function measureAgents(
  browserLab: BrowserLab,
  roundCount: number,
  measureAgent: (agent: Agent) => Promise<readonly number[]>,
  otherMeasurements: Readonly<Record<string, () => Promise<readonly number[]>>> = {},
): Promise<Measurements> {
  const measurements: Record<string, () => Promise<readonly number[]>> = { ...otherMeasurements };
  for (const agent of browserLab.benchAgents) measurements[agent.name] = () => measureAgent(agent);
  return await measureAlternately(roundCount, measurements);
}

export async function repeatMeasurement(
  times: number,
  measuredCall: () => Promise<number>,
): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < times; i++) samples.push(await measuredCall());
  return samples;
}

export function formatPeerMedians(agentMeasurements: Measurements): string {
  const toolTexts: string[] = [];
  for (const [name, { p50 }] of agentMeasurements) if (name !== 'opentabs') toolTexts.push(`${name} ${formatMs(p50)}`);
  return toolTexts.join(', ');
}

export function findMedian(agentMeasurements: Measurements, agent: Agent | undefined): number | undefined {
  return agent && agentMeasurements.get(agent.name)?.p50;
}
