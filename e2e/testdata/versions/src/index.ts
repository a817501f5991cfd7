import { definePlugin, defineTool, getAuthCache, getPreScriptValue, setAuthCache } from '@opentabs/sdk';
import { z } from 'zod';

// The end-to-end tests replace this text before each build.
const build = 'build 1';

const getBuild = defineTool({
  name: 'get_build',
  description: 'Returns the running build, and the state that earlier builds left in the document.',
  input: z.object({}),
  output: z.object({ build: z.string(), builds: z.array(z.string()), preScriptValue: z.string(), teardowns: z.string() }),
  handle: async () => ({
    build,
    builds: getAuthCache<string[]>('builds') ?? [],
    preScriptValue: getPreScriptValue<string>('early') ?? '',
    teardowns: document.documentElement.dataset.torn ?? '',
  }),
});

const wait = defineTool({
  name: 'wait',
  description: 'Waits until the page has the attribute data-go, and returns the build that waited.',
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
  tools: [getBuild, wait],

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
