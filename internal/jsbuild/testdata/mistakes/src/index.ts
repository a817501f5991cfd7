import { definePlugin, defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';

async function save() {
  await Promise.resolve();
  throw new Error('the disk is full');
}

async function saveLater() {
  await sleep(300);
  throw new Error('the disk was removed');
}

const circular: Record<string, unknown> = { name: 'a' };
circular.parts = [{ whole: circular }];

async function expectRejection(promise: Promise<number>): Promise<void> {
  try {
    await promise;
  } catch {
    return;
  }
  throw new Error('the promise was not rejected');
}

const mistakes: Record<string, () => unknown> = {
  floating: () => {
    save();
    return 1;
  },
  floating_later: () => {
    saveLater();
    return 1;
  },
  rejected: () => {
    void Promise.reject(new Error('the queue is closed'));
    return 1;
  },
  constructed: () => {
    new Promise((_, reject) => reject(new Error('the cache is gone')));
    return 1;
  },
  constructed_later: () => {
    new Promise((_, reject) => setTimeout(() => reject(new Error('the cache was lost')), 100));
    return 1;
  },
  chained: () => {
    Promise.all([Promise.resolve(1), new Promise((resolve) => resolve(1))]).then(() => {
      throw new Error('the list is empty');
    });
    return 1;
  },
  settled: async () => {
    const lost = new Promise((_, reject) => setTimeout(() => reject(new Error('too slow')), 100));
    await Promise.race([lost, Promise.resolve(1)]);
    await Promise.allSettled([Promise.reject(new Error('no'))]);
    class Job extends Promise<number> {}
    const job = new Job((_, reject) => reject(new Error('no')));
    await expectRejection(job);
    const resolved = new Promise<number>((resolve) => resolve(Promise.reject(new Error('no'))));
    await expectRejection(resolved);
    return job instanceof Job && resolved instanceof Promise && resolved.constructor === Promise;
  },
  polling: () => {
    const poll = () => setTimeout(poll, 0);
    poll();
    return 1;
  },
  handled: async () => await save().catch(() => 1),
  dom_node: () => ({ items: [{ el: document.body }] }),
  no_await: () => ({ items: [Promise.resolve(1)] }),
  circular: () => circular,
  bigint: () => ({ id: 10n }),
  text: () => {
    throw 'no luck';
  },
  status: () => {
    throw { status: 500 };
  },
  mixed: () => {
    const id: unknown = 10n;
    return (id as number) + 1;
  },
  html: async () => await (await fetch('/api')).json(),
  broken: () => {
    const list: unknown = undefined;
    return (list as string[]).length;
  },
};

export default definePlugin({
  tools: Object.entries(mistakes).map(([name, handle]) =>
    defineTool({
      name,
      description: 'Makes a mistake.',
      input: z.object({}),
      output: z.any(),
      handle: async () => await handle(),
    }),
  ),
  isReady: () => true,
});
