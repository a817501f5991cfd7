/** Starts what the benchmark measures: opentabs in a browser, the reference servers ("floors"), and a Go client. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { repositoryRoot, runOrThrow } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { CallsAnswer, GoClient, type GoServer, startServer } from './go.ts';

/** LiveStack is a running opentabs with a browser, plus a page with the reference extension ("floor"). */
export interface LiveStack {
  readonly stack: Stack;
  readonly baselinePage: Page;
}

export class BenchFixture {
  readonly goClient = new GoClient();
  readonly homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-bench-'));
  #baselineServer: Promise<GoServer> | undefined;
  #liveStack: Promise<LiveStack> | undefined;
  readonly #closeFunctions: (() => Promise<void>)[] = [];

  onClose(closeFunction: () => Promise<void>): void {
    this.#closeFunctions.push(closeFunction);
  }

  /** Commands to the Go client of the benchmark select the reference server ("floor") with the target "plain". */
  getBaselineServer(): Promise<GoServer> {
    this.#baselineServer ??= this.#startBaselineServer();
    return this.#baselineServer;
  }

  async #startBaselineServer(): Promise<GoServer> {
    const server = await startServer('floor');
    this.onClose(() => server.close());
    await this.goClient.connect('plain', `http://127.0.0.1:${server.port}/echo`);
    for (const route of ['w', 'p', 'c', 'd', 'b']) {
      await this.goClient.connect(`floor-${route}`, `http://127.0.0.1:${server.port}/page/${route}`);
    }
    await this.goClient.connect('notes', `http://127.0.0.1:${server.port}/notes`);
    return server;
  }

  /** Commands to the Go client of the benchmark select the running opentabs with the target "ours". */
  getLiveStack(): Promise<LiveStack> {
    this.#liveStack ??= this.#startLiveStack().catch((error: unknown) => {
      this.#liveStack = undefined; // the next benchmark row retries the start
      throw error;
    });
    return this.#liveStack;
  }

  async #startLiveStack(): Promise<LiveStack> {
    const baselineServer = await this.getBaselineServer();
    const extension = join(this.homeFolder, 'floor');
    cpSync(join(repositoryRoot, 'e2e/bench/floor'), extension, { recursive: true });
    writeFileSync(join(extension, 'config.js'), `export const port = ${baselineServer.port};\n`);
    const stack = await startStack({ chrome: { otherExtensions: [extension] } });
    this.onClose(() => stack.close());
    await addBenchPlugin(stack);
    const baselineOrigin = stack.site.origin.replace('127.0.0.1', 'floor.localhost');
    const baselinePage = await stack.chrome.openPage(`${baselineOrigin}/floor`);
    await stack.page.bringToFront();
    await this.goClient.connect('ours', `http://127.0.0.1:${stack.port}/mcp`, stack.clientToken);
    const echoCommand = { tool: 'echo', args: { text: 'x' }, calls: 1 };
    await waitFor('a successful call of the floor server', () =>
      this.#doesCallSucceed({ ...echoCommand, target: 'floor-c' }),
    );
    await waitFor('a successful call of opentabs', () =>
      this.#doesCallSucceed({ ...echoCommand, target: 'ours', tool: 'bench__echo' }),
    );
    return { stack, baselinePage };
  }

  async #doesCallSucceed(echoCommand: Readonly<Record<string, unknown>>): Promise<boolean> {
    return (await this.goClient.sendCommand({ do: 'calls', ...echoCommand }, CallsAnswer)).failed === 0;
  }

  async measureCalls(echoCommand: Readonly<Record<string, unknown>>): Promise<readonly number[]> {
    const benchAnswer = await this.goClient.sendCommand({ do: 'calls', ...echoCommand }, CallsAnswer);
    if (benchAnswer.failed > 0) throw new Error(`${benchAnswer.failed} calls failed: ${benchAnswer.problem}`);
    return benchAnswer.eachNs.map((ns) => ns / 1e6);
  }

  async close(): Promise<void> {
    for (const closeFunction of this.#closeFunctions.reverse())
      await closeFunction().catch((error: unknown) => process.stderr.write(`${error}\n`));
    await this.goClient.close();
    rmSync(this.homeFolder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function addBenchPlugin(stack: Stack): Promise<void> {
  const plugin = join(stack.homeFolder, 'bench-plugin');
  cpSync(join(repositoryRoot, 'e2e/bench/plugin'), plugin, { recursive: true });
  await runOrThrow(['plugin', 'build', plugin], stack.env);
  await runOrThrow(['plugin', 'add', plugin, '--permission', 'auto'], stack.env);
  const isPluginLive = async () =>
    (await stack.listTabs()).some((tab) => tab.plugins?.some((plugin) => JSON.stringify(plugin).includes('"bench"')));
  for (let attemptCount = 0; ; attemptCount++) {
    await stack.page.reload(); // a plugin does not run in pages that were open before the plugin was added
    try {
      await waitFor('the bench plugin to be live in the page', isPluginLive, 3_000);
      return;
    } catch (error) {
      if (attemptCount === 4) throw error;
    }
  }
}
