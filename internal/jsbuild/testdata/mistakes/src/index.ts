import { definePlugin, defineTool } from '@opentabs/sdk';
import { z } from 'zod';

async function save() {
  await Promise.resolve();
  throw new Error('the disk is full');
}

const circular: Record<string, unknown> = { name: 'a' };
circular.parts = [{ whole: circular }];

const mistakes: Record<string, () => unknown> = {
  floating: () => {
    save();
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
