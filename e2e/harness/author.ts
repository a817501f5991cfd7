/** A person who writes a plugin: what `plugin create` made, with `plugin dev` running. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must, type Ran, type Running, start, stop } from './process.ts';
import type { Stack } from './stack.ts';
import { until } from './wait.ts';

/** Author is a plugin that is being developed for the site of a stack. */
export interface Author {
  readonly dir: string;
  readonly dev: Running;
  /** edit replaces a text of a file, which has to be there once. */
  edit(file: string, old: string, fresh: string): void;
  /** built waits until dev has said this many times that it has built. */
  built(times: number): Promise<void>;
  /** end ends dev as Ctrl-C does. */
  end(): Promise<Ran>;
}

/** develop makes the plugin NAME in the stack's home, develops it, and waits until it is live in the stack's page. */
export async function develop(stack: Stack, name: string): Promise<Author> {
  await must(['plugin', 'create', name, '--domain', '127.0.0.1', '--dir', stack.home], stack.env);
  const dir = join(stack.home, name);
  const dev = start(['plugin', 'dev', dir], stack.env);
  await until('the first build', () => dev.stderr().includes('waiting for changes'));
  await stack.page.reload(); // a page that was open before the plugin came does not trust it
  await until('the plugin in the page', async () =>
    (await stack.tabs()).some((tab) => JSON.stringify(tab.plugins ?? []).includes(`"${name}"`)),
  );
  return {
    dir,
    dev,
    edit(file, old, fresh) {
      const path = join(dir, file);
      const text = readFileSync(path, 'utf8');
      if (text.split(old).length !== 2) throw new Error(`${file} does not hold ${old} once`);
      writeFileSync(
        path,
        text.replace(old, () => fresh),
      );
    },
    async built(times) {
      await until(`${times} builds`, () => dev.stdout().split('\nbuilt ').length >= times);
    },
    async end() {
      await stop(dev, 'SIGINT');
      return await dev.ended;
    },
  };
}
