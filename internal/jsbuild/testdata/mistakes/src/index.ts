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
