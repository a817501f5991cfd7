import { definePlugin, defineTool, getAuthCache, getPreScriptValue, setAuthCache } from '@opentabs/sdk';
import { z } from 'zod';

// The end-to-end tests replace this text before each build.
const build = 'build 1';

const which = defineTool({
  name: 'which',
  description: 'Says which build runs, and what the document has kept.',
  input: z.object({}),
  output: z.object({ build: z.string(), builds: z.array(z.string()), early: z.string(), torn: z.string() }),
  handle: async () => ({
    build,
    builds: getAuthCache<string[]>('builds') ?? [],
    early: getPreScriptValue<string>('early') ?? '',
    torn: document.documentElement.dataset.torn ?? '',
  }),
});

const wait = defineTool({
  name: 'wait',
  description: 'Waits until the page has an attribute, and says which build has waited.',
  input: z.object({}),
  output: z.object({ build: z.string() }),
  handle: async (_, context) => {
    document.documentElement.dataset.waiting = build;
    while (document.documentElement.dataset.go === undefined) {
      context?.reportProgress({ message: 'waiting' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      context?.signal.throwIfAborted();
    }
    return { build };
  },
});

export default definePlugin({
  tools: [which, wait],

  isReady() {
    return true;
  },

  onActivate() {
    setAuthCache('builds', [...(getAuthCache<string[]>('builds') ?? []), build]);
  },

  teardown() {
    document.documentElement.dataset.torn = `${document.documentElement.dataset.torn ?? ''}${build};`;
  },
});
