/**
 * The environment of the measurements: the stack of the end-to-end tests, the floors and the Go client. Each part is started when
 * a row first uses it.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { repositoryRoot, runChecked } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { GoClient, type GoServer, Measured, startServer } from './go.ts';

/** Live has the browser, pages and servers that the rows with a page need. */
export interface Live {
  readonly stack: Stack;
  readonly floorPage: Page;
}

/** Bed is the environment in which the rows are measured. */
export class Bed {
  readonly go = new GoClient();
  readonly home = mkdtempSync(join(tmpdir(), 'opentabs-bench-'));
  #floor: Promise<GoServer> | undefined;
  #live: Promise<Live> | undefined;
  readonly #close: (() => Promise<void>)[] = [];

  /** later has something ended with the bed; the last one first. */
  later(close: () => Promise<void>): void {
    this.#close.push(close);
  }

  /** floor is the floors' server: the target "plain" is its JSON echo. */
  floor(): Promise<GoServer> {
    this.#floor ??= this.#startFloor();
    return this.#floor;
  }

  async #startFloor(): Promise<GoServer> {
    const server = await startServer('floor');
    this.later(() => server.close());
    await this.go.connect('plain', `http://127.0.0.1:${server.port}/echo`);
    for (const way of ['w', 'p', 'c', 'd', 'b']) {
      await this.go.connect(`floor-${way}`, `http://127.0.0.1:${server.port}/page/${way}`);
    }
    await this.go.connect('notes', `http://127.0.0.1:${server.port}/notes`);
    return server;
  }

  /** live starts opentabs in a browser, beside the floor's extension; the targets "ours" and "floor-w" to "floor-b". */
  live(): Promise<Live> {
    this.#live ??= this.#startLive().catch((error: unknown) => {
      this.#live = undefined; // the next row retries
      throw error;
    });
    return this.#live;
  }

  async #startLive(): Promise<Live> {
    const floor = await this.floor();
    const extension = join(this.home, 'floor');
    cpSync(join(repositoryRoot, 'e2e/bench/floor'), extension, { recursive: true });
    writeFileSync(join(extension, 'config.js'), `export const port = ${floor.port};\n`);
    const stack = await startStack({ chrome: { otherExtensions: [extension] } });
    this.later(() => stack.close());
    await addBenchPlugin(stack);
    const origin = stack.site.origin.replace('127.0.0.1', 'floor.localhost');
    const floorPage = await stack.chrome.openPage(`${origin}/floor`);
    await stack.page.bringToFront();
    await this.go.connect('ours', `http://127.0.0.1:${stack.port}/mcp`, stack.clientToken);
    const tried = { tool: 'echo', args: { text: 'x' }, calls: 1 };
    await waitFor('the floor in its page', () => this.#calls({ ...tried, target: 'floor-c' }));
    await waitFor('opentabs in its page', () => this.#calls({ ...tried, target: 'ours', tool: 'bench__echo' }));
    return { stack, floorPage };
  }

  async #calls(order: Readonly<Record<string, unknown>>): Promise<boolean> {
    return (await this.go.carryOut({ do: 'calls', ...order }, Measured)).failed === 0;
  }

  /** calls makes calls and returns how long each took, in milliseconds. It fails if one failed. */
  async calls(order: Readonly<Record<string, unknown>>): Promise<readonly number[]> {
    const done = await this.go.carryOut({ do: 'calls', ...order }, Measured);
    if (done.failed > 0) throw new Error(`${done.failed} calls failed: ${done.problem}`);
    return done.eachNs.map((ns) => ns / 1e6);
  }

  async close(): Promise<void> {
    for (const close of this.#close.reverse())
      await close().catch((error: unknown) => process.stderr.write(`${error}\n`));
    await this.go.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** addBenchPlugin adds the plugin of this folder and waits until it is live in the stack's page. */
async function addBenchPlugin(stack: Stack): Promise<void> {
  const plugin = join(stack.home, 'bench-plugin');
  cpSync(join(repositoryRoot, 'e2e/bench/plugin'), plugin, { recursive: true });
  await runChecked(['plugin', 'build', plugin], stack.env);
  await runChecked(['plugin', 'add', plugin, '--permission', 'auto'], stack.env);
  const live = async () =>
    (await stack.listTabs()).some((tab) => tab.plugins?.some((p) => JSON.stringify(p).includes('"bench"')));
  for (let tries = 0; ; tries++) {
    await stack.page.reload(); // a page that was open before the plugin was added does not trust the plugin
    try {
      await waitFor('the bench plugin in the page', live, 3_000);
      return;
    } catch (error) {
      if (tries === 4) throw error;
    }
  }
}
