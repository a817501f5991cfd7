/**
 * Starts the MCP servers whose browser tools the benchmark compares: opentabs, Playwright MCP and chrome-devtools-mcp.
 */
import type { BenchFixture } from '../bench-fixture.ts';
import { formatMs } from '../row.ts';
import { measureAlternately, type Summary } from '../samples.ts';
import { Agent } from './agent.ts';
import { type OurBrowser, startOurBrowser } from './our-browser.ts';
import { type BenchSite, startBenchSite } from './pages.ts';
import { type Peer, startChromeDevtools, startPlaywright } from './peers.ts';
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
  readonly agents: readonly Agent[];
}

export async function startBrowserLab(fixture: BenchFixture): Promise<BrowserLab> {
  const site = await startBenchSite();
  fixture.onClose(() => site.close());
  const our = await startOurBrowser('--debugger');
  fixture.onClose(() => our.close());
  const startPeer = async (start: () => Promise<Peer | undefined>): Promise<Agent | undefined> => {
    const peer = await start();
    if (peer) fixture.onClose(() => peer.close());
    return peer?.agent;
  };
  const playwright = await startPeer(startPlaywright);
  const devtools = await startPeer(startChromeDevtools);
  const agent = new Agent('opentabs', our.client.sdk, opentabsTools);
  const agents = [agent, playwright, devtools].filter((each) => each !== undefined);
  return { site, ourBrowser: our, agent, playwright, devtools, agents };
}

export async function openInAllBrowsers({ site, ourBrowser: our, agents }: BrowserLab, path: string): Promise<number> {
  const url = `${site.origin}${path}`;
  const tabId = await our.openTab(url);
  for (const agent of agents.slice(1)) await agent.call(agent.serverTools.open(url));
  return tabId;
}

export type Measurements = ReadonlyMap<string, Summary>;

/** measureAgents alternates between the MCP servers; `others` contains further measurements, such as a lower bound. */
export async function measureAgents(
  lab: BrowserLab,
  rounds: number,
  measure: (agent: Agent) => Promise<readonly number[]>,
  others: Readonly<Record<string, () => Promise<readonly number[]>>> = {},
): Promise<Measurements> {
  const measurements: Record<string, () => Promise<readonly number[]>> = { ...others };
  for (const agent of lab.agents) measurements[agent.name] = () => measure(agent);
  return await measureAlternately(rounds, measurements);
}

export async function repeatMeasurement(times: number, act: () => Promise<number>): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < times; i++) samples.push(await act());
  return samples;
}

export function describePeers(measured: Measurements): string {
  const texts: string[] = [];
  for (const [name, { p50 }] of measured) if (name !== 'opentabs') texts.push(`${name} ${formatMs(p50)}`);
  return texts.join(', ');
}

export function findMedian(measured: Measurements, agent: Agent | undefined): number | undefined {
  return agent && measured.get(agent.name)?.p50;
}
